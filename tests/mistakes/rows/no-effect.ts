import type { Mistake } from "../mistake.ts";
import { GUESTS, row } from "./guest-book-edits.ts";

/** Code that runs without an error and does not have the effect that it seems to have. */
export const mistakes: readonly Mistake[] = [
  row(
    "creates an error and does not throw it",
    [{ file: GUESTS, from: "throw new ValueError(", to: "new ValueError(" }],
    `${GUESTS}:11`,
    "This ValueError is created and not thrown, so it has no effect",
    "Throw it: `throw new ValueError(",
  ),
];

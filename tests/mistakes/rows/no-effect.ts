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
  row(
    "tests session.user without a call",
    [
      { file: GUESTS, from: "import { server,", to: "import { server, session," },
      { file: GUESTS, from: "return everyone();", to: "return session.user ? everyone() : [];" },
    ],
    `${GUESTS}:13:10`,
    "session.user is a function, which is always truthy",
    "Call it: `session.user()`",
  ),
];

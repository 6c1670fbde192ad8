import type { Mistake } from "../mistake.ts";
import { GUESTS, inMarkup, row, VIEW } from "./guest-book-edits.ts";

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
    "counts in a variable of a view",
    [
      { file: VIEW, from: "  const submit", to: "  let count = 0;\n\n  const submit" },
      inMarkup("<button type='button' onClick={() => count++}>{count}</button>"),
    ],
    `${VIEW}:24:44`,
    "count is a variable that each rendering creates again, so this assignment is never shown",
    "Use a state: `const own = state({ count: 0 })`, and `own.count++` here",
  ),
  row(
    "changes a variable that is destructured from a new state",
    [
      { file: VIEW, from: "  const submit", to: "  let { count } = state({ count: 0 });\n\n  const submit" },
      inMarkup("<button type='button' onClick={() => count++}>{count}</button>"),
    ],
    `${VIEW}:24:44`,
    "count is a copy, so that this assignment does not change the state",
    "Write `const own = state({ … })`, and `own.count = …` here",
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

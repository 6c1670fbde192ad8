import type { Mistake } from "../mistake.ts";
import { APP, inMarkup, row } from "./guest-book-edits.ts";

/** Habits from other frameworks. */
export const mistakes: readonly Mistake[] = [
  row(
    "calls listen() of the application, as in Express",
    [
      { file: APP, from: "export default new App(", to: "const app = new App(" },
      {
        file: APP,
        from: "modules: [guests, pages] });",
        to: "modules: [guests, pages] });\napp.listen(3000);\nexport default app;",
      },
    ],
    "src/app.ts:6:5",
    "An App has no listen()",
    "Remove this call",
  ),
  row(
    "uses a server function as an event handler",
    [inMarkup("<button type='button' onClick={sign}>x</button>")],
    "src/guest-book.tsx:22:38",
    "The server function sign cannot be an event handler",
    "Write onClick={() => sign(name)}",
  ),
  {
    mistake: "forgets onInput on a field with a value",
    edits: [
      {
        file: "src/guest-book.tsx",
        from: " onInput={(event) => (book.name = event.currentTarget.value)}",
        to: "",
      },
    ],
    places: ["terminal", "console"],
    at: "src/guest-book.tsx:19",
    says: "The <input> has `value` and no event handler",
    fix: "Add `onInput`",
  },
];

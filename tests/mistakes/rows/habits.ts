import type { Mistake } from "../mistake.ts";
import { APP, inMarkup, PAGES, row } from "./guest-book-edits.ts";

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
  row(
    "calls the layout of the application",
    [
      { file: "src/layout.server.tsx", to: "export const Layout = () => <main />;\n" },
      {
        file: APP,
        from: "import * as guests",
        to: 'import { Layout } from "./layout.server.tsx";\nimport * as guests',
      },
      { file: APP, from: "modules: [guests, pages] }", to: "modules: [guests, pages], layout: Layout() as never }" },
    ],
    `${APP}:6:16`,
    "new App: layout must be a function that returns markup, and it is markup",
    "Pass the function itself, without calling it: `layout: Layout`",
  ),
  row(
    "calls the async layout of a page",
    [{ file: PAGES, from: 'page("/", async', to: 'page("/", { layout: (async () => <main />)() as never }, async' }],
    `${PAGES}:5:21`,
    'page("/"): layout must be a function that returns markup, and it is a promise',
    "Pass the function itself, without calling it: `layout: Layout`",
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

import type { Edit, Mistake } from "../mistake.ts";
import {
  APP,
  GUESTS,
  inMarkup,
  inView,
  PAGE_IMPORT,
  PAGES,
  row,
  VIEW,
  withPath,
  withQuery,
} from "./guest-book-edits.ts";

const pages: readonly Mistake[] = [
  {
    ...row(
      "writes the path of a page with brackets",
      [withPath("/users/[id]")],
      `${PAGES}:5:26`,
      'Invalid path "/users/[id]"',
      'Write "/users/:id"',
    ),
    places: ["page", "build"],
  },
  row(
    "writes the path of a page with braces",
    [withPath("/users/{id}")],
    `${PAGES}:5:26`,
    'Invalid path "/users/{id}"',
    'Write "/users/:id"',
  ),
  row("forgets the slash of a path", [withPath("users")], `${PAGES}:5:26`, 'Invalid path "users"', 'Write "/users"'),
  row(
    "writes a query in a path",
    [withPath("/users?name=:name")],
    `${PAGES}:5:26`,
    "A path has no query",
    "request.query",
  ),
  row(
    "declares a path twice",
    [{ file: PAGES, from: "export const home", to: 'export const other = page("/", () => null);\nexport const home' }],
    `${PAGES}:6:26`,
    'Another page has the path "/"',
    "Change one of the paths",
  ),
  {
    ...row(
      "declares a path in two modules",
      [
        {
          file: "src/more.server.tsx",
          to: 'import { page } from "tsweb";\nexport const more = page("/", () => null);\n',
        },
        { file: APP, from: "import * as pages", to: 'import * as more from "./more.server.tsx";\nimport * as pages' },
        { file: APP, from: "[guests, pages]", to: "[guests, pages, more]" },
      ],
      "src/more.server.tsx:2:26",
      'Another page has the path "/" already (src/pages.server.tsx:5)',
      "Change one of the paths",
    ),
    places: ["page", "build"],
  },
  row(
    "exports a page as default",
    [{ file: PAGES, from: "export const home = page", to: "export default page" }],
    `${PAGES}:5:16`,
    "page() needs a name",
    "export const name = page",
  ),
  row(
    "exports a component as a page",
    [{ file: PAGES, to: "export default async function Home() {\n  return <p>Hello</p>;\n}\n" }],
    `${PAGES}:1:16`,
    "src/pages.server.tsx serves nothing",
    "Declare its page as `export const home = page(",
  ),
  row(
    "lists the default export of a module",
    [{ file: APP, from: "import * as guests", to: "import guests" }],
    `${APP}:2:8`,
    "src/guests.server.ts has no default export",
    "import * as guests from",
  ),
  row(
    "lists one module without brackets",
    [{ file: APP, from: "[guests, pages]", to: "pages" }],
    `${APP}:5:56`,
    "`modules` must be a list, and this is one module",
    "Write `modules: [pages]`",
  ),
  row(
    "passes markup to page()",
    [
      { file: PAGES, from: "async () => (\n  <main>", to: "<main>" },
      { file: PAGES, from: "await everyone()", to: "[]" },
      { file: PAGES, from: "  </main>\n));", to: "  </main>);" },
    ],
    `${PAGES}:5:31`,
    "page() takes a function that returns markup, and this is markup",
    "Write `() =>` before it",
  ),
  row(
    "gives a component a name that begins with a small letter",
    [
      inView('import { guestCard } from "./guest-card.tsx";'),
      inMarkup("<guestCard />"),
      {
        file: "src/guest-card.tsx",
        to: "export const guestCard = () => <b>Ada</b>;\n",
      },
    ],
    `${VIEW}:23:8`,
    "<guestCard> does not use the component guestCard",
    "write `<GuestCard>`",
  ),
  row(
    "calls a view as a function in a page",
    [{ file: PAGES, from: "<GuestBook guests={await everyone()} />", to: "{GuestBook({ guests: await everyone() })}" }],
    `${PAGES}:8:6`,
    'The view "GuestBook" is called as a function',
    "Write it as an element: `<GuestBook",
  ),
  row(
    "forgets view()",
    [{ file: VIEW, from: "export const GuestBook = view((", to: "export const GuestBook = ((" }],
    `${PAGES}:8:6`,
    "GuestBook (src/guest-book.tsx:4) calls state() and is not a view",
    "Declare it as a view",
  ),
  row(
    "declares an async view",
    [{ file: VIEW, from: "view(({ guests }", to: "view(async ({ guests }" }],
    `${VIEW}:4:31`,
    'The view "GuestBook" is async',
    "Load its data in the page",
  ),
  row(
    "does not export a view",
    [{ file: VIEW, from: "export const GuestBook", to: "const GuestBook" }],
    `${VIEW}:4:7`,
    '"GuestBook" is not exported',
    "export const GuestBook = view",
  ),
  row(
    "gives two functions one name",
    [
      { file: "src/more.server.ts", to: 'import { server } from "tsweb";\nexport const sign = server(() => 1);\n' },
      { file: APP, from: "import * as pages", to: 'import * as more from "./more.server.ts";\nimport * as pages' },
      { file: APP, from: "[guests, pages]", to: "[guests, more, pages]" },
    ],
    `${APP}:6:65`,
    '"sign" is a server function of both',
    "Rename one of them",
  ),
  row(
    "drops a redirect that a module re-exports",
    [
      { file: "src/navigation.ts", to: 'export { redirect } from "tsweb";\n' },
      { file: PAGES, from: PAGE_IMPORT, to: `${PAGE_IMPORT}\nimport { redirect } from "./navigation.ts";` },
      { file: PAGES, from: "async () => (\n  <main>", to: 'async () => {\n  redirect("/closed");\n  return <main>' },
      { file: PAGES, from: "  </main>\n));", to: "  </main>;\n});" },
    ],
    `${PAGES}:7:3`,
    "redirect() returns a value and has no effect here",
    "Write `throw redirect(",
  ),
];

const syntax: readonly Mistake[] = [
  row(
    "writes an HTML comment in markup",
    [inMarkup("<!-- the list -->")],
    `${VIEW}:22:8`,
    "JSX has no HTML comments",
    "{/* comment */}",
  ),
  row(
    "reads the class names of a style sheet that is no CSS module",
    [
      { file: "src/style.css", to: ".main { color: red }\n" },
      inView('import styles from "./style.css";'),
      inMarkup("<p class={styles.main}>Guests</p>"),
    ],
    `${VIEW}:1:8`,
    "src/style.css is a plain style sheet, so `styles` is undefined",
    "rename it to style.module.css",
  ),
  row(
    "forgets the closing tag of the outermost element of a view",
    [{ file: VIEW, from: "    </form>\n", to: "" }],
    `${VIEW}:18:5`,
    "`<form>` in line 18 is not closed",
    "Write `</form>` after its children",
  ),
  row(
    "forgets the closing tag of the outermost element of a page",
    [{ file: PAGES, from: "  </main>\n", to: "" }],
    `${PAGES}:6:3`,
    "`<main>` in line 6 is not closed",
    "Write `</main>` after its children",
  ),
  row("forgets the slash of <br>", [inMarkup("<br>")], `${VIEW}:28:7`, "closing tag for 'br'", "write `<br />`"),
  row(
    "writes an if statement in markup",
    [inMarkup("{if (book.name) <b />}")],
    `${VIEW}:22:8`,
    "Braces in markup contain an expression",
    "{condition && ",
  ),
  row(
    "awaits in a view",
    [{ file: VIEW, from: "  const submit", to: '  const all = await sign("Ada");\n  const submit' }],
    `${VIEW}:7:15`,
    "`await` is only allowed",
    "await the data in the page",
  ),
  row(
    "declares a name twice",
    [{ file: VIEW, from: "  const submit", to: "  const book = 1;\n  const submit" }],
    `${VIEW}:7:9`,
    '"book" is declared twice',
    "Rename or remove",
  ),
];

const imports: readonly Mistake[] = [
  {
    mistake: "calls a function of a server module without server()",
    edits: [{ file: VIEW, from: "{ sign }", to: "{ everyone, sign }" }],
    places: ["overlay"],
    at: `${VIEW}:2:10`,
    says: '"everyone" of src/guests.server.ts is not a server function',
    fix: "wrap it in server(): `export const everyone = server(async () => …)`",
  },
  {
    mistake: "imports a query in a view",
    edits: [
      ...withQuery('query({ on: ["guests"] }, () => everyone())'),
      { file: VIEW, from: "{ sign }", to: "{ guests, sign }" },
    ],
    places: ["overlay", "build"],
    at: `${VIEW}:2:10`,
    says: '"guests" is a query of src/guests.server.ts, which browsers cannot call',
    fix: "Pass `await guests.live(…)` from the page as a prop",
  },
  {
    mistake: "imports a constant of a server module",
    edits: [
      {
        file: GUESTS,
        from: "export async function everyone",
        to: "export const LIMIT = 80;\nexport async function everyone",
      },
      { file: VIEW, from: "{ sign }", to: "{ LIMIT, sign }" },
    ],
    places: ["build"],
    at: `${VIEW}:2:10`,
    says: '"LIMIT" of src/guests.server.ts is not a server function',
    fix: 'Move it to a file without ".server" in its path',
  },
];

/** Replaces the use of the view in the page, in line 8. */
const inPage = (markup: string): Edit => ({
  file: PAGES,
  from: "<GuestBook guests={await everyone()} />",
  to: markup,
});

const FUNCTION_PROP = 'The view "GuestBook" has a function as its prop';

const views: readonly Mistake[] = [
  {
    ...row(
      "uses window while a view is rendered",
      [{ file: VIEW, from: "  const submit", to: "  const width = window.innerWidth;\n  const submit" }],
      `${VIEW}:7:17`,
      "window is not defined\n`window` exists in browsers only",
      "Use it in on_mount or in an event handler of a view",
    ),
    places: ["page", "terminal"],
  },
  row(
    "uses localStorage at the top of a view's module",
    [inView('const theme = localStorage.getItem("theme");')],
    `${VIEW}:1:15`,
    "`localStorage` exists in browsers only",
    "Use it in on_mount",
  ),
  row(
    "uses document in a page",
    [inPage("<GuestBook guests={[document.title]} />")],
    `${PAGES}:8:25`,
    "`document` exists in browsers only",
    "Use it in on_mount",
  ),
  {
    ...row(
      "imports a Node module in a view",
      [inView('import { readFileSync } from "node:fs";')],
      `${VIEW}:1:30`,
      '"node:fs" is a Node module',
      "Use it in a server function and call that function",
    ),
    places: ["page", "terminal", "build"],
  },
  row(
    "imports a Node module by its short name in a view",
    [inView('import fs from "fs";')],
    `${VIEW}:1:16`,
    '"fs" is a Node module',
    "Use it in a server function and call that function",
  ),
  {
    ...row(
      "passes a function to a view in a page",
      [inPage("<GuestBook guests={await everyone()} onPick={everyone} />")],
      `${PAGES}:8:42`,
      `${FUNCTION_PROP} onPick`,
      "Declare the function in the module of the view",
    ),
    places: ["page", "build"],
  },
  row(
    "passes a function that is written in place to a view in a page",
    [inPage("<GuestBook guests={await everyone()} format={(name: string) => name} />")],
    `${PAGES}:8:42`,
    `${FUNCTION_PROP} format`,
    "wrap it in server() in a server module",
  ),
];

export const mistakes: readonly Mistake[] = [...pages, ...syntax, ...imports, ...views];

import type { Edit, Mistake } from "../mistake.ts";

const VIEW = "src/guest-book.tsx";
const PAGES = "src/pages.server.tsx";
const GUESTS = "src/guests.server.ts";
const APP = "src/app.ts";

const VIEW_IMPORT = 'import { RPCError, state, view } from "tsweb/browser";';
const PAGE_IMPORT = 'import { page } from "tsweb";';

/** Adds a line in front of the first import of the view. */
const inView = (line: string): Edit => ({ file: VIEW, from: VIEW_IMPORT, to: `${line}\n${VIEW_IMPORT}` });
/** Adds names to the import of `tsweb/browser` in the view. */
const fromBrowser = (name: string): Edit => ({
  file: VIEW,
  from: "{ RPCError, state, view }",
  to: `{ ${name}, RPCError, state, view }`,
});
/** Adds markup in front of the list of the view, in line 21. */
const inMarkup = (markup: string): Edit => ({ file: VIEW, from: "      <ul>", to: `      ${markup}\n      <ul>` });
/** Replaces the path of the page, in line 5. */
const withPath = (path: string): Edit => ({ file: PAGES, from: 'page("/"', to: `page(${JSON.stringify(path)}` });

/** A mistake that the error page shows at one place. */
const row = (
  mistake: string,
  edits: readonly Edit[],
  at: string,
  says: Mistake["says"],
  fix: Mistake["fix"],
): Mistake => ({
  mistake,
  edits,
  places: ["page"],
  at,
  says,
  fix,
});

const PASS_A_PROP = "Read it in the page";

const environment: readonly Mistake[] = [
  {
    ...row(
      "reads an environment variable in a view",
      [inMarkup("<p>{process.env.HOME}</p>")],
      `${VIEW}:22:11`,
      "process.env.HOME cannot be used in a module that browsers load",
      "Read it in the page and pass it as a prop",
    ),
    places: ["page", "build"],
  },
  row(
    "uses a Buffer in a view",
    [inMarkup('<p>{Buffer.from("a").toString("hex")}</p>')],
    `${VIEW}:22:11`,
    "`Buffer` exists in Node only",
    "Use it in the page or in a server function",
  ),
  row(
    "uses require in a view",
    [inView('const fs = require("fs");')],
    `${VIEW}:1:12`,
    '"fs" is a Node module',
    "Use it in a server function",
  ),
  row(
    "uses global in a view",
    [inMarkup("<p>{global.name}</p>")],
    `${VIEW}:22:11`,
    "`global` exists in Node only",
    "Write `globalThis`",
  ),
  row(
    "reads an environment variable at the top of a view's module",
    [inView("const api = process.env.API_URL;")],
    `${VIEW}:1:13`,
    "process.env.API_URL cannot be used",
    PASS_A_PROP,
  ),
];

const entryPoints: readonly Mistake[] = [
  row(
    "reads the session in a view",
    [inView('import { session } from "tsweb";')],
    `${VIEW}:1:10`,
    "session exists on the server only",
    PASS_A_PROP,
  ),
  row(
    "imports session from tsweb/browser",
    [fromBrowser("session")],
    `${VIEW}:1:10`,
    '"tsweb/browser" does not export session',
    PASS_A_PROP,
  ),
  row(
    "publishes in a view",
    [inView('import { publish } from "tsweb";')],
    `${VIEW}:1:10`,
    "publish exists on the server only",
    "Use it in a server function",
  ),
  row(
    "creates a channel in a view",
    [inView('import { channel } from "tsweb";')],
    `${VIEW}:1:10`,
    "channel exists on the server only",
    "Create the feed in the page",
  ),
  row(
    "redirects in a view",
    [inView('import { redirect } from "tsweb";')],
    `${VIEW}:1:10`,
    "redirect exists on the server only",
    "location.assign(path)",
  ),
  row(
    "declares a server function in a view's module",
    [
      {
        file: VIEW,
        from: VIEW_IMPORT,
        to: `${VIEW_IMPORT}\nimport { server } from "tsweb";\nexport const hello = server(() => "Hello");`,
      },
    ],
    `${VIEW}:3:22`,
    "server() must be in a server module",
    "Move this declaration to a file such as",
  ),
  row(
    "imports server from tsweb/browser",
    [fromBrowser("server")],
    `${VIEW}:1:10`,
    '"tsweb/browser" does not export server',
    "Declare the function in a server module",
  ),
  row(
    "imports state from tsweb",
    [
      {
        file: VIEW,
        from: VIEW_IMPORT,
        to: 'import { RPCError, view } from "tsweb/browser";\nimport { state } from "tsweb";',
      },
    ],
    `${VIEW}:2:10`,
    '"tsweb" does not export state',
    'Import it from "tsweb/browser"',
  ),
  row(
    "imports RPCError from tsweb in a view",
    [
      {
        file: VIEW,
        from: VIEW_IMPORT,
        to: 'import { state, view } from "tsweb/browser";\nimport { RPCError } from "tsweb";',
      },
    ],
    `${VIEW}:2:10`,
    "Browser code cannot import RPCError",
    'Import it from "tsweb/browser"',
  ),
  row(
    "imports useState from tsweb/browser",
    [fromBrowser("useState")],
    `${VIEW}:1:10`,
    "does not export useState",
    "Import state from",
  ),
  row(
    "writes onMount for on_mount",
    [fromBrowser("onMount")],
    `${VIEW}:1:10`,
    "does not export onMount",
    "Import on_mount from",
  ),
  row(
    "uses state in a page",
    [{ file: PAGES, from: PAGE_IMPORT, to: `${PAGE_IMPORT}\nimport { state } from "tsweb/browser";` }],
    `${PAGES}:2:10`,
    "state works in views only",
    "Declare a view in a file without",
  ),
  row(
    "forgets server() around all functions of a module",
    [{ file: GUESTS, from: "server(async (name: string)", to: "(async (name: string)" }],
    `${GUESTS}:9:14`,
    "serves nothing: it exports everyone, sign",
    "src/guest-book.tsx imports sign: wrap it in server()",
  ),
];

const otherFrameworks: readonly Mistake[] = [
  row(
    "imports useState from react",
    [inView('import { useState } from "react";')],
    `${VIEW}:1:26`,
    '"react" is not installed',
    'Import useState from "preact/hooks"',
  ),
  row(
    "imports React",
    [inView('import React from "react";')],
    `${VIEW}:1:19`,
    '"react" is not installed',
    "npm install react@npm:@preact/compat",
  ),
  row(
    "uses useActionState",
    [inView('import { useActionState } from "react";')],
    `${VIEW}:1:10`,
    "has no useActionState",
    "form(fn)",
  ),
  row(
    "uses useFormStatus",
    [inView('import { useFormStatus } from "react-dom";')],
    `${VIEW}:1:10`,
    "has no useFormStatus",
    "`pending`",
  ),
  row(
    "imports next/link",
    [inView('import Link from "next/link";')],
    `${VIEW}:1:18`,
    '"next/link" works in applications of Next.js only',
    "<a href=",
  ),
  row(
    "imports next/navigation in a page",
    [{ file: PAGES, from: PAGE_IMPORT, to: `${PAGE_IMPORT}\nimport { notFound } from "next/navigation";` }],
    `${PAGES}:2:26`,
    '"next/navigation" works in applications of Next.js only',
    "`NotFound`",
  ),
  row(
    'writes "use server" in a view',
    [inView('"use server";')],
    `${VIEW}:1:1`,
    '"use server" has no effect',
    "Declare the function with server()",
  ),
  row(
    "exports getServerSideProps",
    [{ file: PAGES, from: PAGE_IMPORT, to: `${PAGE_IMPORT}\nexport async function getServerSideProps() {}` }],
    `${PAGES}:2:23`,
    "Only Next.js calls getServerSideProps",
    "Load the data in the function of the page",
  ),
  row(
    "takes searchParams in a page",
    [{ file: PAGES, from: "async () => (", to: "async ({ searchParams }: { searchParams: string }) => (" }],
    `${PAGES}:5:40`,
    "has no parameter searchParams",
    "request.query",
  ),
  row(
    "takes params in a page",
    [{ file: PAGES, from: "async () => (", to: "async ({ params }: { params: string }) => (" }],
    `${PAGES}:5:40`,
    "has no parameter params",
    "({ id }) =>",
  ),
];

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
    "export const Name = view",
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

export const mistakes: readonly Mistake[] = [
  environment,
  entryPoints,
  otherFrameworks,
  pages,
  syntax,
  imports,
  views,
].flat();

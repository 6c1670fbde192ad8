import { show, sign } from "../acts.ts";
import type { Mistake } from "../mistake.ts";
import { APP, GUESTS, PAGES, row, VIEW } from "./guest-book-edits.ts";

/** Uses a layout of a module of its own. */
const withLayout = (code: string) => [
  { file: "src/layout.server.tsx", to: `import type { Markup } from "tsweb";\n${code}\n` },
  { file: APP, from: "import * as guests", to: 'import { Layout } from "./layout.server.tsx";\nimport * as guests' },
  { file: APP, from: "modules: [", to: "layout: Layout, modules: [" },
];

/** Puts markup in front of the heading of the page, in line 7. */
const inPage = (markup: string) => ({ file: PAGES, from: "<h1>", to: `${markup}<h1>` });

const layouts: readonly Mistake[] = [
  {
    ...row(
      "forgets the children in a layout",
      withLayout("export const Layout = ({ children }: { children: Markup }) => <div>Shop</div>;"),
      "src/layout.server.tsx:2:24",
      "This layout never renders `children`, so it shows no page",
      "Put `{children}` where the page belongs",
    ),
    places: ["page", "build"],
  },
  {
    ...row(
      "declares a layout without children",
      withLayout("export const Layout = (): Markup => <div>Shop</div>;"),
      "src/layout.server.tsx:2",
      "has no parameter `children`, so it shows no page",
      "Put `{children}` where the page belongs",
    ),
    places: ["terminal"],
  },
];

const files: readonly Mistake[] = [
  {
    ...row(
      "writes the path of an image beside the module",
      [inPage('<img src="./logo.svg" alt="" />'), { file: "src/logo.svg", to: "<svg />" }],
      `${PAGES}:7`,
      "requests /logo.svg, where nothing is served. src/logo.svg is served only if a module imports it",
      'Write `import logo from "./logo.svg"` and `src={logo}`, or move the file to public/',
    ),
    places: ["terminal"],
    act: show,
  },
  {
    ...row(
      "writes the folder public in the path of an image",
      [inPage('<img src="/public/logo.svg" alt="" />'), { file: "public/logo.svg", to: "<svg />" }],
      `${PAGES}:7`,
      "requests /public/logo.svg, where nothing is served",
      'public/logo.svg is served at /logo.svg: write src="/logo.svg"',
    ),
    places: ["terminal"],
    act: show,
  },
  {
    ...row(
      "links a style sheet beside the module",
      [inPage('<link rel="stylesheet" href="/src/style.css" />'), { file: "src/style.css", to: "p { color: red }\n" }],
      `${PAGES}:7`,
      "requests /src/style.css, where nothing is served",
      'Write `import "./style.css"`, and leave out this element',
    ),
    places: ["terminal"],
    act: show,
  },
];

const lists: readonly Mistake[] = [
  {
    ...row(
      "gives two elements of a list the same key",
      [{ file: VIEW, from: "{book.guests.map(", to: '{["Ada", "Grace", "Ada"].map(' }],
      `${VIEW}:24`,
      'Two <li> elements of a list in GuestBook have the same key, "Ada"',
      "Use a value that is different for each element, such as an id: <li key={item.id}>",
    ),
    places: ["console", "terminal"],
  },
];

const otherFrameworks: readonly Mistake[] = [
  {
    ...row(
      "writes a page as a component in a file with its path",
      [{ file: "src/app/about/page.tsx", to: "export default function About() {\n  return <h1>About</h1>;\n}\n" }],
      "src/app/about/page.tsx:1",
      "exports a component by default, which declares no page",
      'Write `export const about = page("/about", () => <About />)` in a module whose name ends with .server.tsx',
    ),
    path: "/about",
  },
  {
    ...row(
      "writes a route as a function with the name of a method",
      [{ file: "src/app/api/guests/route.ts", to: "export async function GET() {\n  return Response.json([]);\n}\n" }],
      "src/app/api/guests/route.ts:1",
      "exports GET, which tsweb does not call",
      'Write `export const api_guests = route("GET /api/guests", async (request) => …)`',
    ),
    path: "/api/guests",
  },
];

const exportsOfOthers: readonly Mistake[] = [
  {
    ...row(
      "exports the metadata of a page, as in Next.js",
      [
        {
          file: PAGES,
          from: "export const home",
          to: 'export const metadata = { title: "Guests" };\nexport const home',
        },
      ],
      `${PAGES}:5`,
      "exports metadata, which only other frameworks use, and no module of the application does",
      'Pass the title to the page, as in `page("/…", { title: "…" }, () => …)`',
    ),
    places: ["terminal"],
  },
  {
    ...row(
      "exports a function for POST beside a page",
      [{ file: PAGES, from: "export const home", to: "export async function POST() {}\nexport const home" }],
      `${PAGES}:5`,
      "exports POST, which only other frameworks use",
      'Declare a route: `export const name = route("POST /…", async (request) => …)`',
    ),
    places: ["terminal"],
  },
  row(
    "exports only a function for GET",
    [
      { file: GUESTS, to: "export async function GET() {}\n" },
      { file: PAGES, from: "await everyone()", to: "[]" },
    ],
    `${GUESTS}:1`,
    "src/guests.server.ts serves nothing: it exports GET",
    'Declare a route: `export const name = route("GET /…", async (request) => …)`',
  ),
];

const errors: readonly Mistake[] = [
  {
    mistake: "throws an Error for the user in a server function",
    edits: [
      { file: GUESTS, from: "return everyone();", to: 'throw new Error("This name is taken.");' },
      { file: VIEW, from: "event.preventDefault();", to: "event.preventDefault();\n    await sign(book.name);" },
    ],
    act: (page) => sign(page),
    places: ["overlay"],
    at: `${VIEW}:9`,
    says: "The text of an Error is not sent to browsers",
    fix: "To show the user a text, throw a ValueError or an RPCError",
  },
  {
    mistake: "reads the user in a server function without a sign-in",
    edits: [
      { file: GUESTS, from: "import { server,", to: "import { server, session," },
      { file: GUESTS, from: "return everyone();", to: "return [session.user()!.sub];" },
    ],
    act: (page) => sign(page),
    places: ["terminal"],
    at: `${GUESTS}:13`,
    says: "Nobody is signed in, so session.user() returned null",
    fix: "Write `session.require()` in its place",
  },
];

const props: readonly Mistake[] = [
  {
    ...row(
      "calls a method of Date on a date that a page passes to a view",
      [
        { file: PAGES, from: "guests={await everyone()}", to: "guests={await everyone()} at={new Date() as never}" },
        {
          file: VIEW,
          from: "({ guests }: { guests: string[] })",
          to: "({ guests, at }: { guests: string[]; at?: any })",
        },
        { file: VIEW, from: "  const submit", to: "  const year = at.getFullYear();\n  const submit" },
      ],
      `${VIEW}:7:19`,
      "If `at` is a date, it has arrived as a string",
      "Write `new Date(at).getFullYear()`",
    ),
    places: ["page", "terminal"],
  },
  {
    ...row(
      "misspells a prop of a view",
      [{ file: PAGES, from: "<GuestBook guests=", to: "<GuestBook gests=" }],
      `${PAGES}:8:16`,
      'GuestBook has no prop "gests"',
      'Did you mean "guests"?',
    ),
    places: ["page", "build"],
  },
];

const addresses: readonly Mistake[] = [
  {
    ...row(
      "fetches an address of the application where nothing is served",
      [{ file: VIEW, from: "event.preventDefault();", to: 'event.preventDefault();\n    await fetch("/api/guests");' }],
      `${VIEW}:9`,
      'requests "/api/guests", where nothing is served',
      'Declare a route, `export const api_guests = route("GET /api/guests", async (request) => …)`, or call a server function',
    ),
    act: (page) => sign(page),
    places: ["terminal"],
  },
  {
    ...row(
      "redirects to an address without a page",
      [
        { file: GUESTS, from: "import { server,", to: "import { redirect, server," },
        { file: GUESTS, from: "return everyone();", to: 'throw redirect("/wellcome");' },
        {
          file: PAGES,
          from: "export const home",
          to: 'export const welcome = page("/welcome", () => <h1>Hi</h1>);\nexport const home',
        },
      ],
      `${GUESTS}:13:9`,
      'redirect("/wellcome") leads to an address where nothing is served',
      'Did you mean "/welcome"?',
    ),
    act: (page) => sign(page),
    places: ["terminal"],
  },
];

/** Mistakes whose effect is only that something is missing. */
export const mistakes: readonly Mistake[] = [
  ...layouts,
  ...files,
  ...lists,
  ...otherFrameworks,
  ...exportsOfOthers,
  ...errors,
  ...props,
  ...addresses,
];

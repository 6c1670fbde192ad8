import type { Mistake } from "../mistake.ts";

/** Missing files, packages and exports. Builds have the words of the development server; two of them show it. */
/** Uses a component of another module in the view. */
const usesFancy = (module: string, code: string, file: string): Mistake["edits"] => [
  { file, to: code },
  {
    file: "src/guest-book.tsx",
    from: "import { RPCError,",
    to: `import { Fancy } from "${module}";\nimport { RPCError,`,
  },
  { file: "src/guest-book.tsx", from: "      <ul>", to: "      <Fancy />\n      <ul>" },
];

export const mistakes: readonly Mistake[] = [
  {
    mistake: "uses a package for React in a view, without React",
    edits: usesFancy(
      "fancy-x",
      'import { createElement } from "react";\nexport const Fancy = () => createElement("b");\n',
      "node_modules/fancy-x/index.js",
    ),
    places: ["build"],
    at: "node_modules/fancy-x/index.js:1",
    says: 'The package "react" is not installed',
    fix: "npm install react@npm:@preact/compat react-dom@npm:@preact/compat",
  },
  {
    mistake: "uses a component whose bundle contains a React of its own",
    edits: usesFancy(
      "./fancy.js",
      'const element = (type) => ({ $$typeof: Symbol.for("react.transitional.element"), type, props: {} });\n' +
        'export const Fancy = () => element("b");\n',
      "src/fancy.js",
    ),
    places: ["page", "terminal"],
    at: "src/guest-book.tsx:23:7",
    says: "<b> was made with React, which cannot be rendered here",
    fix: "a package contains or brings its own React: find it with npm ls react, or replace the package",
  },
  {
    mistake: "imports a package in a view that is not installed",
    edits: [
      {
        file: "src/guest-book.tsx",
        from: "import { RPCError,",
        to: 'import { nanoid } from "nanoid-x";\nconsole.log(nanoid);\nimport { RPCError,',
      },
    ],
    places: ["build", "page"],
    at: "src/guest-book.tsx:1:24",
    says: 'The package "nanoid-x" is not installed',
    fix: "npm install nanoid-x",
  },
  {
    mistake: "imports a package with a scope in a server module that is not installed",
    edits: [
      {
        file: "src/guests.server.ts",
        from: "import { server,",
        to: 'import { nanoid } from "@scope/nanoid-x/sub";\nconsole.log(nanoid);\nimport { server,',
      },
    ],
    places: ["page"],
    at: "src/guests.server.ts:2:24",
    says: 'The package "@scope/nanoid-x" is not installed',
    fix: "npm install @scope/nanoid-x",
  },
  {
    mistake: "imports by an alias that tsconfig.json does not have",
    edits: [{ file: "src/app.ts", from: "./guests.server.ts", to: "@/guests.server.ts" }],
    places: ["page"],
    at: "src/app.ts:2:25",
    says: '"@/guests.server.ts" matches no file',
    fix: '"paths" in tsconfig.json',
  },
  {
    mistake: "misspells the name of a function of a server module in a page",
    edits: [
      { file: "src/pages.server.tsx", from: "{ everyone }", to: "{ everione }" },
      { file: "src/pages.server.tsx", from: "await everyone()", to: "await everione()" },
    ],
    places: ["page"],
    at: "src/pages.server.tsx:3:10",
    says: 'src/guests.server.ts exports no "everione"',
    fix: 'Did you mean "everyone"?',
  },
  {
    mistake: "misspells the name of a server function in a view",
    edits: [
      { file: "src/guest-book.tsx", from: "{ sign }", to: "{ sing }" },
      { file: "src/guest-book.tsx", from: "await sign(", to: "await sing(" },
    ],
    places: ["page"],
    at: "src/guest-book.tsx:2:10",
    says: 'src/guests.server.ts exports no "sing"',
    fix: 'Did you mean "sign"?',
  },
  {
    mistake: "imports a function that is not exported",
    edits: [{ file: "src/guests.server.ts", from: "export async function everyone", to: "async function everyone" }],
    places: ["page"],
    at: "src/pages.server.tsx:3:10",
    says: '"everyone" of src/guests.server.ts is not exported',
    fix: "Write `export` before its declaration",
  },
  {
    mistake: "uses an image that does not exist in a style sheet",
    edits: [
      { file: "src/app.ts", from: "import { App }", to: 'import "./style.css";\nimport { App }' },
      { file: "src/style.css", to: 'p { background: url("./logo.png") }\n' },
    ],
    places: ["build", "page"],
    at: "src/style.css:1:22",
    says: "there is no file src/logo.png",
    fix: "Correct the path, or create the file",
  },
  {
    mistake: "forgets a brace in a style sheet",
    edits: [
      { file: "src/app.ts", from: "import { App }", to: 'import "./style.css";\nimport { App }' },
      { file: "src/style.css", to: "p {\n  color: red;\n\nh1 { color: blue }\n" },
    ],
    places: ["build", "page"],
    at: "src/style.css:1:3",
    says: "This { is not closed",
    fix: "Add } at the end of the block",
  },
  {
    mistake: "imports an image that does not exist in a page",
    edits: [
      { file: "src/pages.server.tsx", from: "import { page }", to: 'import logo from "./logo.png";\nimport { page }' },
      { file: "src/pages.server.tsx", from: "<h1>", to: '<img src={logo} alt="" /><h1>' },
    ],
    places: ["page"],
    at: "src/pages.server.tsx:1:18",
    says: "there is no file src/logo.png",
    fix: "Correct the path, or create the file",
  },
  {
    mistake: "extends a tsconfig.json that does not exist",
    edits: [
      {
        file: "tsconfig.json",
        from: '"compilerOptions"',
        to: '"extends": "@tsconfig/nope/tsconfig.json",\n  "compilerOptions"',
      },
    ],
    places: ["build"],
    at: "tsconfig.json:2:14",
    says: '"@tsconfig/nope/tsconfig.json", which does not exist',
    fix: "npm install --save-dev @tsconfig/nope",
  },
];

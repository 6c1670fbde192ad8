/**
 * The files of the project of vite-plugins.test.ts, and of the packages outside of its folder.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "#test/copy-example";

const documentation = readFileSync(join(repository, "docs/vite.md"), "utf8");

/** Returns the code block of docs/vite.md whose first line is a comment with this name. */
function documented(name: string): string {
  const blocks = documentation.split(/^```.*\n/m);
  const block = blocks.find((text) => text.startsWith(`// ${name}\n`) || text.startsWith(`/* ${name} */\n`));
  if (!block) throw new Error(`docs/vite.md has no code block of ${name}.`);
  return block;
}

/** A view that tries a worker and `eval`. */
export const BLOCKED_VIEW =
  'import { on_mount, state, view } from "tsweb/browser";\n' +
  'export const Blocked = view(() => { const own = state({ result: "" });\n' +
  '  on_mount(() => { const blob = URL.createObjectURL(new Blob([""]));\n' +
  "    try { new Worker(blob); } catch {}\n" +
  '    try { new Function("return 1")(); own.result = "ran"; } catch { own.result = "blocked"; } });\n' +
  '  return <p id="result">{own.result}</p>; });\n';

/** Pages with one view each, which imports a package of words: the modules of the views. */
const VIEWS = { first: "./first.tsx", beside: "../views/beside.tsx", outside: "outside", names: "./(group)/[id].tsx" };
export const WORD_PAGES = [...Object.keys(VIEWS), "lazy"];
const MODULES = ["pages", "late", "linked", "policy", ...WORD_PAGES];

export const FILES = {
  "vite.config.ts":
    'import mdx from "@mdx-js/rollup";\nimport tailwindcss from "@tailwindcss/vite";\nimport { defineConfig } from "vite";\n' +
    'export default defineConfig({ plugins: [tailwindcss(), mdx({ jsxImportSource: "tsweb" })] });\n',
  "tsconfig.json": readFileSync(join(repository, "template/tsconfig.json"), "utf8"),
  "postcss.config.mjs": documented("postcss.config.mjs"),
  "src/mdx.d.ts": documented("src/mdx.d.ts"),
  "src/style.css": documented("src/style.css"),
  "src/variables.css": "$accent: rgb(1, 2, 3);\n.accent { color: $accent; }\n",
  "src/app.ts":
    'import { App } from "tsweb";\nimport "./style.css";\nimport "./variables.css";\n' +
    MODULES.map((name) => `import * as ${name} from "./${name}.server.tsx";\n`).join("") +
    `export default new App({ modules: [${MODULES}] });\n`,
  "src/about.mdx": "# About {props.name}\n\nWritten in **MDX**.\n",
  "src/note.mdx": "## A note\n\nIn a *view*.\n",
  "src/pages.server.tsx":
    'import { page } from "tsweb";\nimport About from "./about.mdx";\nimport { Card } from "./card.tsx";\nimport styles from "./page.module.css";\n' +
    'export const home = page("/", () => (\n  <main id="page" class="pt-[13px]">\n    <p id="accent" class="accent">Accent</p>\n' +
    '    <p id="module" class={styles.text}>Module</p>\n    <About name="tsweb" />\n    <Card />\n  </main>\n));\n',
  "src/late.server.tsx":
    'import { page } from "tsweb";\nimport { Late } from "./late.tsx";\n' +
    'export const late = page("/late", async () => {\n  await import("./late-page.css");\n' +
    '  const { Part } = await import("./part.tsx");\n  return <main id="page"><Part /><Late /></main>;\n});\n',
  "src/policy.server.tsx":
    'import { page } from "tsweb";\nimport { Blocked } from "./blocked.tsx";\n' +
    `const policy = { "style-src-attr": null, "img-src": "'self'" };\n` +
    'export const blocked = page("/blocked", { policy }, () => <main><p id="red" style="color: red">Red</p>' +
    '<style>{"h1 { color: red; }"}</style><img src="http://127.0.0.1:9/photo.png" alt="" /><Blocked /></main>);\n' +
    'export const plain = page("/plain", { policy: { "script-src": "\'none\'" } }, () => <h1>Plain</h1>);\n',
  "src/blocked.tsx": BLOCKED_VIEW,
  "src/late.tsx":
    'import { state, view } from "tsweb/browser";\nexport const Late = view(() => {\n  const own = state({ count: 0, text: "" });\n' +
    '  const load = async () => {\n    await import("./late.css");\n    own.text = (await import("./chart.ts")).text;\n  };\n' +
    '  return (\n    <section id="late">\n      <button type="button" onClick={() => own.count++}>{own.count}</button>\n' +
    '      <a href="#late" onClick={load}>Load</a>\n      <p id="chart">{own.text}</p>\n    </section>\n  );\n});\n',
  "src/part.tsx": 'import "./part.css";\nexport const Part = () => <p id="part">Part</p>;\n',
  "src/chart.ts": 'import "./chart.css";\nexport const text = "Chart";\n',
  "src/late-page.css": "#page { color: rgb(9, 9, 1); }\n",
  "src/part.css": "#part { color: rgb(9, 9, 2); }\n",
  "src/late.css": "#late { color: rgb(9, 9, 3); }\n",
  "src/chart.css": "#chart { color: rgb(9, 9, 4); }\n",
  "src/page.module.css": ".text { color: rgb(4, 5, 6); }\n",
  "src/card.tsx":
    'import { state, view } from "tsweb/browser";\nimport styles from "./card.module.css";\nimport Note from "./note.mdx";\n' +
    "export const Card = view(() => {\n  const own = state({ count: 0 });\n" +
    '  return (\n    <section id="card" class={"pl-[17px] " + styles.card}>\n      <Note />\n' +
    '      <button type="button" onClick={() => own.count++}>{own.count}</button>\n    </section>\n  );\n});\n',
  "src/card.module.css": ".card { color: rgb(7, 8, 9); }\n",
};

/** Packages outside of the application's folder, which are linked into its `node_modules`. */
export const LINKED_FILES = {
  "ui/package.json": '{ "name": "ui", "type": "module", "exports": { ".": "./panel.tsx", "./*": "./*" } }\n',
  "ui/panel.tsx":
    'import { state, view } from "tsweb/browser";\nimport { save } from "./actions.server.ts";\nimport { label } from "./label.ts";\n' +
    'import logo from "./logo.svg";\nimport "./own.css";\nimport "ui/panel.css";\n' +
    'export const Panel = view(() => {\n  const own = state({ count: 0, saved: "" });\n  const send = async () => {\n' +
    "    own.saved = await save(label);\n  };\n  return (\n" +
    '    <section id="panel">\n      <img src={logo} alt="" />\n      <button type="button" onClick={() => own.count++}>{own.count}</button>\n' +
    '      <a href="#panel" onClick={send}>Send</a>\n      <p id="label">{label}</p>\n      <p id="saved">{own.saved}</p>\n    </section>\n  );\n});\n',
  "ui/label.ts": 'export const label = "Label";\n',
  "ui/unused.ts": 'export const unused = "not served";\n',
  "ui/actions.server.ts":
    'import { server } from "tsweb";\nexport const save = server((text: string) => "saved " + text);\n',
  "ui/own.css": "#panel { color: rgb(8, 8, 1); }\n",
  "ui/panel.css": "#panel { padding-top: 23px; }\n",
  "ui/logo.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>\n',
  "greeting/package.json": '{ "name": "greeting", "main": "index.js", "types": "index.d.ts" }\n',
  "greeting/index.js":
    'const { basename } = require("node:path");\nconst { word } = require("./word");\nexports.greet = (path) => word + " " + basename(path);\n',
  "greeting/word.js": 'exports.word = "Hello";\n',
  "greeting/index.d.ts": "export function greet(path: string): string;\n",
};

const view = (name: string, imports: string) =>
  `import { view } from "tsweb/browser";\n${imports}\nexport const ${name} = view(() => (\n` +
  '  <p>\n    <input />\n    <button type="button" onClick={load}>{word}</button>\n  </p>\n));\n';
const importOf = (name: string) => `import { word } from "${name}-words";\nconst load = () => {};`;
/** Two of the packages share a third one, so that each of them alone is bundled in another way than both. */
const wordsOf = (name: string): Record<string, string> => ({
  [`node_modules/${name}-words/package.json`]: `{ "name": "${name}-words", "type": "module", "exports": "./index.js" }\n`,
  [`node_modules/${name}-words/index.js`]:
    (name === "first" || name === "outside" ? 'export { word as shared } from "shared-words";\n' : "") +
    `export const word = "${name}";\n`,
  [`node_modules/${name}-words/index.d.ts`]: "export const word: string;\n",
});

export const WORD_FILES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(VIEWS).map(([name, from]) => [
      `src/${name}.server.tsx`,
      `import { page } from "tsweb";\nimport { View } from "${from}";\nexport const ${name} = page("/${name}", () => <View />);\n`,
    ]),
  ),
  "src/first.tsx": view("View", importOf("first")),
  "views/beside.tsx": view("View", importOf("beside")),
  "src/(group)/[id].tsx": view("View", importOf("names")),
  "src/lazy.server.tsx":
    'import { page } from "tsweb";\nexport const lazy = page("/lazy", async () => {\n' +
    '  const { View } = await import("../views/lazy.tsx");\n  return <View />;\n});\n' +
    'export const broken = page("/broken", async () => {\n  const { View } = await import("../views/broken.tsx");\n' +
    "  return <View />;\n});\n",
  "views/lazy.tsx": view(
    "View",
    'import { word } from "../shared/word.ts";\nconst load = () => import("../shared/chart.ts");',
  ),
  "views/broken.tsx": view("View", importOf("first")),
  "shared/word.ts": 'export { word } from "lazy-words";\n',
  "shared/chart.ts": 'export { word } from "chart-words";\n',
  ...Object.assign({}, ...["first", "beside", "names", "lazy", "chart", "shared", "added"].map(wordsOf)),
};

/** The package of one of these pages, outside of the application's folder, with packages of its own. */
export const OUTSIDE_FILES = {
  "package.json": '{ "name": "outside", "type": "module", "exports": "./view.tsx" }\n',
  "view.tsx": view("View", importOf("outside")),
  ...Object.assign({}, ...["outside", "shared"].map(wordsOf)),
};

export const LINKED_PAGE = `import { page } from "tsweb";
import greeting, { greet } from "greeting";
import { Panel } from "ui";
import { save } from "ui/actions.server.ts";
export { save };
export const linked = page("/linked", () => (
  <main>
    <h1>{greet("/users/Ada") + (greeting.greet === greet ? "!" : "")}</h1>
    <Panel />
  </main>
));
`;

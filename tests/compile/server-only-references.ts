/**
 * The forms of references from a view to a server-only file, in style sheets and in modules.
 */
import type { InlineConfig } from "vite";

export const MARKER = "MARKER-5ec7e7";

export const FILES = {
  "src/app.ts": 'import { App } from "tsweb";\nexport default new App({ modules: [] });',
  "src/db.server.ts": `import { server } from "tsweb";\nconst secret = "${MARKER}";\nexport const f = server(() => secret);`,
  "src/style.server.css": `.a { --secret: "${MARKER}" }`,
  "src/style.server.scss": `$secret: "${MARKER}"; .a { --secret: #{$secret} }`,
  "src/data.server.json": `{ "secret": "${MARKER}" }`,
  "src/text.server.txt": MARKER,
  "src/icon.server.svg": `<svg xmlns="http://www.w3.org/2000/svg"><title>${MARKER}</title></svg>`,
  "src/keys.server/index.ts": `export const key = "${MARKER}";`,
  "src/keys.server/style.css": `.a { --secret: "${MARKER}" }`,
  "src/plain.txt": MARKER,
  ".env": `SECRET=${MARKER}`,
};

/** Links: the name is server-only, or the target. `keys` is a folder. */
export const LINKS: Readonly<Record<string, string>> = {
  "src/linked.txt": "src/text.server.txt",
  "src/linked.css": "src/style.server.css",
  "src/linked.json": "src/data.server.json",
  "src/linked-env.txt": ".env",
  "src/keys": "src/keys.server",
  "src/link.server.txt": "src/plain.txt",
};

/** A form of reference to a server-only file, in a module or a style sheet that a view imports. */
export interface Reference {
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly config?: InlineConfig;
}

export const view = (head: string) =>
  `import { view } from "tsweb/browser";\n${head}\nexport const View = view(() => <p />);`;

export const sheet = (
  title: string,
  css: string,
  file = "view.css",
  more: Readonly<Record<string, string>> = {},
): Reference => ({
  title: `${title}: ${css}`,
  files: {
    [`src/${file}`]: css,
    "src/view.tsx": view(`import * as css from "./${file}";\nconsole.log(css);`),
    ...more,
  },
});

const code = (title: string, head: string, more: Readonly<Record<string, string>> = {}): Reference => ({
  title: `${title}: ${head}`,
  files: { "src/view.tsx": view(head), ...more },
});

/** The `paths` of a project. Those without `*` name one file, of which one is a link with a server-only name. */
const PATHS = {
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      paths: {
        "@/*": ["./src/*"],
        text: ["./src/text.server.txt"],
        link: ["./src/link.server.txt"],
        keys: ["./src/keys"],
      },
    },
    include: ["src"],
  }),
};

const IMPORTS = { "package.json": '{ "imports": { "#link": "./src/link.server.txt" } }' };

const LIGHTNING: InlineConfig = { css: { transformer: "lightningcss" } };

export const SHEETS: Reference[] = [
  sheet("url()", 'p { background: url("./db.server.ts") }'),
  sheet("url() without quotes", "p { background: url(./db.server.ts) }"),
  sheet("an inlined url()", 'p { background: url("./db.server.ts?inline") }'),
  sheet("an inlined url() without ./", "p { background: url(db.server.ts?inline) }"),
  sheet("an inlined url() relative to the root", 'p { background: url("/src/db.server.ts?inline") }'),
  sheet("an inlined url() with a hash", 'p { background: url("./icon.server.svg?inline#a") }'),
  sheet("an inlined url() of another type of file", 'p { background: url("./data.server.json?inline") }'),
  sheet("an inlined url() in a server-only folder", 'p { background: url("./keys.server/index.ts?inline") }'),
  sheet("an inlined url() of a link", 'p { background: url("./linked.txt?inline") }'),
  sheet("a url() of a link", 'p { background: url("./linked.txt") }'),
  sheet("an inlined url() through a linked folder", 'p { background: url("./keys/index.ts?inline") }'),
  sheet("an inlined url() of a link with a server-only name", 'p { background: url("./link.server.txt?inline") }'),
  sheet("an escaped url()", 'p { background: url("./db\\.server\\.ts?inline") }'),
  sheet("image-set()", 'p { background: image-set("./db.server.ts?inline" 1x) }'),
  sheet("image-set() with url()", 'p { background: image-set(url("./db.server.ts?inline") 1x, url("./a.png") 2x) }'),
  sheet("a custom property", 'p { --image: url("./db.server.ts?inline") }'),
  sheet("@font-face", '@font-face { font-family: f; src: url("./db.server.ts?inline") }'),
  sheet("@import", '@import "./style.server.css";'),
  sheet("@import of a url()", "@import url(./style.server.css);"),
  sheet("@import of a script", '@import "./db.server.ts";'),
  sheet("@import in a server-only folder", '@import "./keys.server/style.css";'),
  sheet("@import of a link", '@import "./linked.css";'),
  sheet("@import through a linked folder", '@import "./keys/style.css";'),
  sheet("an inlined url() in an imported style sheet", '@import "./other.css";', "view.css", {
    "src/other.css": 'p { background: url("./db.server.ts?inline") }',
  }),
  sheet("an inlined url() of a link in an imported style sheet", '@import "./other.css";', "view.css", {
    "src/other.css": 'p { background: url("./linked.txt?inline") }',
  }),
  sheet("composes", '.a { composes: a from "./style.server.css" }', "view.module.css"),
  sheet("composes from a link", '.a { composes: a from "./linked.css" }', "view.module.css"),
  sheet("composes in a composed style sheet", '.a { composes: b from "./other.module.css" }', "view.module.css", {
    "src/other.module.css": '.b { composes: a from "./linked.css" }',
  }),
  sheet("@value", '@value a from "./style.server.css"; .b { color: a }', "view.module.css"),
  sheet("Sass @use", '@use "./style.server.scss";', "view.scss"),
  sheet("Sass @use without the extension", '@use "./style.server";', "view.scss"),
  sheet("Sass @import", '@import "./style.server.scss";', "view.scss"),
  sheet("Sass @forward", '@forward "./style.server.scss";', "view.scss"),
  sheet("Sass @use of a link", '@use "./linked.css";', "view.scss"),
  sheet(
    "an inlined url() that Sass computes",
    '$a: "server"; p { background: url("./db.#{$a}.ts?inline") }',
    "view.scss",
  ),
  sheet(
    "an inlined url() of SVG that Sass computes",
    '$a: "server"; p { background: url("./icon.#{$a}.svg?inline") }',
    "view.scss",
  ),
  sheet("a url() that Sass computes", '$a: "server"; p { background: url("./db.#{$a}.ts") }', "view.scss"),
  sheet("the indented syntax of Sass", '@use "./style.server.scss"', "view.sass"),
  sheet("Less @import", '@import "./style.server.css";', "view.less"),
  sheet("Less inline @import", '@import (inline) "./db.server.ts";', "view.less"),
  sheet("Less inline @import of a link", '@import (inline) "./linked.txt";', "view.less"),
  sheet("Less data-uri()", 'p { background: data-uri("./text.server.txt") }', "view.less"),
  {
    ...sheet("an inlined url() with Lightning CSS", 'p { background: url("./linked.txt?inline") }'),
    config: LIGHTNING,
  },
  { ...sheet("@import with Lightning CSS", '@import "./linked.css";'), config: LIGHTNING },
];

export const SCRIPTS: Reference[] = [
  code("an import of JSON", 'import data from "./data.server.json";\nconsole.log(data);'),
  code("an import of JSON by name", 'import { secret } from "./data.server.json";\nconsole.log(secret);'),
  code("an import of a linked JSON file", 'import data from "./linked.json";\nconsole.log(data);'),
  code("an import of a text", 'import text from "./text.server.txt?raw";\nconsole.log(text);'),
  code("an import of variables", 'import text from "../.env?raw";\nconsole.log(text);'),
  code("an import of the URL of variables", 'import url from "../.env?url";\nconsole.log(url);'),
  code("an import of linked variables", 'import text from "./linked-env.txt?raw";\nconsole.log(text);'),
  code("an import of a linked text", 'import text from "./linked.txt?raw";\nconsole.log(text);'),
  code("an import of a text by a server-only name", 'import text from "./link.server.txt?raw";\nconsole.log(text);'),
  code("an import of an inlined file", 'import text from "./text.server.txt?inline";\nconsole.log(text);'),
  code("an import of an inlined URL", 'import text from "./text.server.txt?url&inline";\nconsole.log(text);'),
  code("an import of a URL", 'import text from "./icon.server.svg?url";\nconsole.log(text);'),
  code("an import of an image", 'import text from "./icon.server.svg";\nconsole.log(text);'),
  code("an import of a style sheet", 'import css from "./style.server.css?inline";\nconsole.log(css);'),
  code("an import of a linked style sheet", 'import css from "./linked.css?inline";\nconsole.log(css);'),
  code("an import from a server-only folder", 'import { key } from "./keys.server";\nconsole.log(key);'),
  code("an import from a linked folder", 'import { key } from "./keys/index.ts";\nconsole.log(key);'),
  code("an import by an alias", 'import text from "@/text.server.txt?raw";\nconsole.log(text);', PATHS),
  code("an import of JSON by an alias", 'import { secret } from "@/data.server";\nconsole.log(secret);', PATHS),
  code("an import of a module by an alias", 'import text from "@/db.server.ts?raw";\nconsole.log(text);', PATHS),
  code("a computed import by an alias", 'import("@/db.server.ts").then(console.log);', PATHS),
  code("an import of all by an alias", 'import * as db from "@/db.server";\nconsole.log(db);', PATHS),
  code("an import by the name of an alias", 'import text from "text?raw";\nconsole.log(text);', PATHS),
  code("an import of a link by an alias", 'import text from "@/linked.txt?raw";\nconsole.log(text);', PATHS),
  code(
    "an import by an alias of a link with a server-only name",
    'import text from "link?raw";\nconsole.log(text);',
    PATHS,
  ),
  code("an import by an alias of a linked folder", 'import { key } from "keys";\nconsole.log(key);', PATHS),
  code("an import by imports of package.json", 'import text from "#link?raw";\nconsole.log(text);', IMPORTS),
  code("new URL() by an alias", 'console.log(new URL("@/data.server.json", import.meta.url).href);', PATHS),
  code(
    "import.meta.glob by an alias",
    'console.log(import.meta.glob("@/*.txt", { query: "?raw", eager: true }));',
    PATHS,
  ),
  code("an import by an alias in JavaScript that no tsconfig.json includes", 'import "./plain.js";', {
    ...PATHS,
    "src/plain.js": 'import text from "@/text.server.txt?raw";\nconsole.log(text);',
  }),
  code(
    "a worker that imports by an alias",
    'new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });',
    {
      ...PATHS,
      "src/worker.ts": 'import text from "link?raw";\nconsole.log(text);',
    },
  ),
  code("an import of a worker", 'import W from "./keys.server/index.ts?worker";\nnew W();'),
  code("an import of an inlined worker", 'import W from "./keys.server/index.ts?worker&inline";\nnew W();'),
  code("new URL()", 'console.log(new URL("./data.server.json", import.meta.url).href);'),
  code("new URL() with a query", 'console.log(new URL("./icon.server.svg?inline", import.meta.url).href);'),
  code("new URL() of a link", 'console.log(new URL("./linked.txt", import.meta.url).href);'),
  code("new URL() of an inlined link", 'console.log(new URL("./linked.txt?inline", import.meta.url).href);'),
  code(
    "a computed new URL()",
    `const n = "data"; console.log(new URL(\`./\${n}.server.json\`, import.meta.url).href);`,
  ),
  code("import.meta.glob", 'console.log(import.meta.glob("./*.json", { eager: true }));'),
  code("import.meta.glob of texts", 'console.log(import.meta.glob("./*.txt", { query: "?raw", eager: true }));'),
  code("import.meta.glob below a folder", 'console.log(import.meta.glob("./keys/*", { query: "?raw", eager: true }));'),
  code("a computed import", `const n = "data"; console.log(import(\`./\${n}.server.json\`));`),
  code("a worker that imports it", 'new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });', {
    "src/worker.ts": 'import text from "./linked.txt?raw";\nconsole.log(text);',
  }),
];

/** The references that are also built. The others differ from one of these in the text alone. */
export const BUILT =
  /^(?:url\(\)|an inlined url\(\)(?:| of a link| in an imported style sheet| that Sass computes| of SVG that Sass computes| with Lightning CSS)|a url\(\) (?:of a link|that Sass computes)|@import(?:| of a link)|composes(?:| in a composed style sheet)|Sass @use|Less (?:inline @import of a link|data-uri\(\))|an import of (?:JSON|JSON by an alias|a module by an alias|all by an alias|a linked text|a link by an alias|a URL|a style sheet|a worker)|an import by (?:an alias|the name of an alias|an alias of a link with a server-only name|an alias of a linked folder|imports of package\.json|an alias in JavaScript that no tsconfig\.json includes)|a worker that imports by an alias|an import from a linked folder|new URL\(\)(?:| of a link| of an inlined link)|import\.meta\.glob|a worker that imports it): /;

import { symlinkSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { InlineConfig, ViteDevServer } from "vite";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseMarkedCode } from "#test/in-memory-modules";
import { buildFailure, Project } from "./project.ts";

const MARKER = "MARKER-5ec7e7";

const FILES = {
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
const LINKS: Readonly<Record<string, string>> = {
  "src/linked.txt": "src/text.server.txt",
  "src/linked.css": "src/style.server.css",
  "src/linked.json": "src/data.server.json",
  "src/linked-env.txt": ".env",
  "src/keys": "src/keys.server",
  "src/link.server.txt": "src/plain.txt",
};

/** A form of reference to a server-only file, in a module or a style sheet that a view imports. */
interface Reference {
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly config?: InlineConfig;
}

const view = (head: string) => `import { view } from "tsweb/browser";\n${head}\nexport const View = view(() => <p />);`;

const sheet = (
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

const SHEETS: Reference[] = [
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

const SCRIPTS: Reference[] = [
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
const BUILT =
  /^(?:url\(\)|an inlined url\(\)(?:| of a link| in an imported style sheet| that Sass computes| of SVG that Sass computes| with Lightning CSS)|a url\(\) (?:of a link|that Sass computes)|@import(?:| of a link)|composes(?:| in a composed style sheet)|Sass @use|Less (?:inline @import of a link|data-uri\(\))|an import of (?:JSON|JSON by an alias|a module by an alias|all by an alias|a linked text|a link by an alias|a URL|a style sheet|a worker)|an import by (?:an alias|the name of an alias|an alias of a link with a server-only name|an alias of a linked folder|imports of package\.json|an alias in JavaScript that no tsconfig\.json includes)|a worker that imports by an alias|an import from a linked folder|new URL\(\)(?:| of a link| of an inlined link)|import\.meta\.glob|a worker that imports it): /;

/** Writes the files and links into a project. */
function writeFiles(project: Project, folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries({ ...FILES, ...files })) project.write(`${folder}${name}`, text);
  for (const [link, target] of Object.entries(LINKS)) {
    symlinkSync(project.file(`${folder}${target}`), project.file(`${folder}${link}`));
  }
}

function projectOf({ files }: Pick<Reference, "files">): Project {
  const project = new Project({});
  writeFiles(project, "", files);
  project.install("sass", "less", "preact");
  return project;
}

/** A development server, and a project with every reference in a folder of its own. */
class DevelopmentServer {
  private readonly project = projectOf({ files: {} });
  private readonly servers = new Map<InlineConfig | undefined, Promise<string>>();
  private readonly stops: (() => void)[] = [];
  private count = 0;

  /** Returns all text that the server sends for a view and for everything it refers to. */
  async textOf({ files, config }: Reference): Promise<string> {
    const folder = `case${++this.count}/`;
    writeFiles(this.project, folder, files);
    const address = await this.address(config);
    const texts = new Map<string, string>();
    const pending = [`/${folder}src/view.tsx`];
    for (let url = pending.pop(); url !== undefined; url = pending.pop()) {
      if (texts.has(url)) continue;
      const text = await (await fetch(address + url)).text();
      texts.set(url, text);
      for (const [, found = ""] of text.matchAll(/["'(](\/(?:src|case\d+|@id|@fs)\/[^"')\s]+)/g)) {
        if (found.includes(folder) || found.startsWith("/src/")) pending.push(found); // not the modules of tsweb
      }
    }
    return decoded([...texts.values()].join("\n"));
  }

  private address(config: InlineConfig | undefined): Promise<string> {
    const started = this.servers.get(config) ?? this.start(config);
    this.servers.set(config, started);
    return started;
  }

  private async start(config: InlineConfig | undefined): Promise<string> {
    const { address, stop } = await listen(await this.project.serve(config));
    this.stops.push(stop);
    return address;
  }

  stop(): void {
    for (const stop of this.stops) stop();
  }
}

async function listen({ middlewares }: ViteDevServer): Promise<{ address: string; stop: () => void }> {
  const http = createHttpServer(middlewares);
  await new Promise<void>((listening) => http.listen(0, "127.0.0.1", listening));
  const { port } = http.address() as AddressInfo; // not a string: it listens on a port
  const stop = () => {
    http.close();
    http.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${port}`, stop };
}

/** Appends the decoded data URLs of a text. */
function decoded(text: string): string {
  const inlined = [...text.matchAll(/base64,([A-Za-z0-9+/=]+)/g)].map(([, data = ""]) => Buffer.from(data, "base64"));
  return [text, ...inlined].join("\n");
}

describe("a reference to a server-only file", () => {
  const all = [...SHEETS, ...SCRIPTS];

  test.each(all.filter(({ title }) => BUILT.test(title)))(
    "fails the build for the browser: $title",
    async (reference) => {
      const failure = await buildFailure(projectOf(reference).buildClient("src/view.tsx", reference.config));
      expect(failure.message).toMatch(/is server-only|is a server module|is not a server function/);
    },
  );

  test("sends nothing of the file in development, in a style sheet or a script", async () => {
    const server = new DevelopmentServer();
    onTestFinished(() => server.stop());
    const sent: string[] = [];
    for (const reference of all) {
      const text = await server.textOf(reference);
      expect(text, reference.title).not.toBe("");
      if (text.includes(MARKER)) sent.push(reference.title);
    }
    expect(sent).toEqual([]);
  });
});

describe("the error about a reference to a server-only file", () => {
  test("has its location in a style sheet", async () => {
    const css = 'p {\n  color: red;\n  background: url("«./db.server.ts?inline");\n}';
    const project = projectOf(sheet("url()", parseMarkedCode(css).code));
    const failure = await buildFailure(project.buildClient("src/view.tsx"));
    expect(failure.message).toBe(
      'src/db.server.ts is server-only, because its name or the name of a folder in its path ends in ".server", so it cannot be referenced in a style sheet as "./db.server.ts?inline". Rename it if browsers may receive it.',
    );
    expect(failure.loc).toMatchObject({ file: project.file("src/view.css"), ...parseMarkedCode(css).location });
    expect(failure.frame).toContain("^^^");
  });

  test("has its location in a script", async () => {
    const text = view('import data from «"./data.server.json";\nconsole.log(data);');
    const project = projectOf({ files: { "src/view.tsx": parseMarkedCode(text).code } });
    const failure = await buildFailure(project.buildClient("src/view.tsx"));
    expect(failure.message).toContain("src/data.server.json is server-only");
    expect(failure.message).toContain('it cannot be imported as "./data.server.json"');
    expect(failure.loc).toMatchObject({ file: project.file("src/view.tsx"), ...parseMarkedCode(text).location });
  });
});

describe("a link in the folder of public files", () => {
  test.each([
    ["to a file of the project", "public/data.txt", "src/plain.txt"],
    ["to a folder of the project", "public/data", "src"],
    ["in a folder", "public/a/b/data.txt", "src/plain.txt"],
    ["to a folder whose path begins like that of the public files", "public/data.txt", "public-files/plain.txt"],
  ])("that leads out of it fails the build: %s", async (_title, link, target) => {
    const project = new Project({ ...FILES, "public/a/b/x.txt": "", "public-files/plain.txt": "" });
    project.write("src/view.tsx", view(""));
    symlinkSync(project.file(target), project.file(link));
    for (const build of [() => project.buildClient("src/view.tsx"), () => project.buildServer("src/app.ts")]) {
      const { message } = await buildFailure(build());
      expect(message).toContain(`${link} is a link to ${project.file(target)}, which is not in public.`);
    }
  });

  test("that leads to another public file does not fail it, also if the folder is a link", async () => {
    const project = new Project({ ...FILES, "files/x.txt": "", "src/view.tsx": view("") });
    symlinkSync(project.file("files"), project.file("public"));
    symlinkSync(project.file("files/x.txt"), project.file("files/y.txt"));
    expect(await project.buildClient("src/view.tsx")).not.toEqual([]);
  });
});

describe("a style sheet may contain", () => {
  test.each([
    ["a selector that looks like a server-only file", ".db.server.active { color: red }", "view.css"],
    ["a comment about a server-only file", '/* as in "./db.server.ts" */ p { color: red }', "view.css"],
    ["a line comment about a server-only file", "// as in ./db.server.ts\np { color: red }", "view.scss"],
    ["a text that is no path", 'p::after { content: "mail.server.example" }', "view.css"],
    ["an inlined file", 'p { background: url("./plain.txt?inline") }', "view.css"],
    ["a URL of another site", 'p { background: url("https://a.server.example/b.server.png") }', "view.css"],
  ])("%s", async (title, css, file) => {
    const output = await projectOf(sheet(title, css, file)).buildClient("src/view.tsx");
    expect(output.map(({ name }) => name).join(" ")).toContain(".css");
  });
});

describe("a server-only file in the folder of public files", () => {
  test.each([
    ["by its name", { "public/data.server.json": MARKER }, {}],
    ["by its folder", { "public/keys.server/a.txt": MARKER }, {}],
    ["as variables", { "public/.env.local": MARKER }, {}],
    ["as a link", { "public/a.txt": "" }, { "public/data.txt": "src/text.server.txt" }],
    ["as a linked folder", { "public/a.txt": "" }, { "public/keys": "src/keys.server" }],
  ])("fails the build, and is not served in development: %s", async (_title, files, links) => {
    const project = new Project({ ...FILES, ...files, "src/view.tsx": view("") });
    for (const [link, target] of Object.entries(links)) symlinkSync(project.file(target), project.file(link));
    for (const build of [() => project.buildClient("src/view.tsx"), () => project.buildServer("src/app.ts")]) {
      expect((await buildFailure(build())).message).toMatch(
        /(is server-only|contains environment variables).*cannot be served from public/,
      );
    }
    const { address, stop } = await listen(await project.serve());
    onTestFinished(stop);
    for (const path of ["/data.server.json", "/keys.server/a.txt", "/data.txt", "/keys/index.ts", "/%64ata.txt"]) {
      expect(await (await fetch(address + path)).text()).not.toContain(MARKER);
    }
  });
});

describe("a build for the server fails on", () => {
  test.each([
    ["an asset that is server-only", 'import url from "./data.server.json?url";\nexport const u = url;'],
    ["an image that is server-only", 'import url from "./icon.server.svg";\nexport const u = url;'],
    ["a style sheet that is server-only", 'import "./style.server.css";'],
    ["a style sheet with a link to a server-only file", 'import "./linked.css";'],
  ])("%s, because browsers receive it", async (_title, text) => {
    const project = projectOf({ files: { "src/pages.server.tsx": text } });
    expect((await buildFailure(project.buildServer("src/pages.server.tsx"))).message).toMatch(/is server-only/);
  });

  test("nothing that stays on the server: a text and JSON", async () => {
    const text =
      'import raw from "./text.server.txt?raw";\nimport data from "./data.server.json";\nexport const u = [raw, data];';
    const project = projectOf({ files: { "src/pages.server.ts": text } });
    const output = await project.buildServer("src/pages.server.ts");
    expect(output.some((file) => file.text.includes(MARKER))).toBe(true);
  });
});

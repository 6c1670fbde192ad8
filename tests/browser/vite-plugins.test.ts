/**
 * Tailwind, MDX, CSS modules, PostCSS and packages of a workspace in Chromium, as docs/vite.md describes them: built, with edits in
 * development, and in `npm run matrix -- libraries` also all of it in development.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { repository } from "#test/copy-example";
import { installPackages, VITE_PLUGINS_DIR } from "#test/host-packages";
import { IS_MATRIX } from "#test/matrix";
import { build, type RunningServer, startBuilt, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";

const documentation = readFileSync(join(repository, "docs/vite.md"), "utf8");

/** Returns the code block of docs/vite.md whose first line is a comment with this name. */
function documented(name: string): string {
  const blocks = documentation.split(/^```.*\n/m);
  const block = blocks.find((text) => text.startsWith(`// ${name}\n`) || text.startsWith(`/* ${name} */\n`));
  if (!block) throw new Error(`docs/vite.md has no code block of ${name}.`);
  return block;
}

/** Pages with one view each, which imports a package of words: the modules of the views. */
const VIEWS = { first: "./first.tsx", beside: "../views/beside.tsx", outside: "outside", names: "./(group)/[id].tsx" };
const WORD_PAGES = [...Object.keys(VIEWS), "lazy"];
const MODULES = ["pages", "late", "linked", ...WORD_PAGES];

const FILES = {
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
const LINKED_FILES = {
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

const WORD_FILES: Readonly<Record<string, string>> = {
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
const OUTSIDE_FILES = {
  "package.json": '{ "name": "outside", "type": "module", "exports": "./view.tsx" }\n',
  "view.tsx": view("View", importOf("outside")),
  ...Object.assign({}, ...["outside", "shared"].map(wordsOf)),
};

const LINKED_PAGE = `import { page } from "tsweb";
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

let project: TestProject;
let packages: TestProject;
let outside: TestProject;
let browser: Browser;
let users: BrowserUsers;
const servers: Partial<Record<"built" | "dev", RunningServer>> = {};

beforeAll(async () => {
  await installPackages(VITE_PLUGINS_DIR);
  project = TestProject.fromFiles({ ...FILES, ...WORD_FILES });
  project.linkPackages(VITE_PLUGINS_DIR);
  project.linkPackages(repository, ["vite"]); // npm installs it with tsweb
  packages = TestProject.fromFiles(LINKED_FILES);
  rmSync(packages.file("node_modules/tsweb")); // only the application has it
  symlinkSync(packages.file("ui"), packages.file("node_modules/ui"), "dir");
  for (const name of ["ui", "greeting"]) symlinkSync(packages.file(name), project.file(`node_modules/${name}`), "dir");
  project.write("src/linked.server.tsx", LINKED_PAGE);
  outside = TestProject.fromFiles(OUTSIDE_FILES);
  symlinkSync(outside.dir, project.file("node_modules/outside"), "dir");
  await build(project.dir);
  [servers.built, servers.dev, browser] = await Promise.all([
    startBuilt(project.dir, { WEB_ENV: "development" }),
    startDev(project.dir),
    launch({ fullBrowser: false }),
  ]);
  users = new BrowserUsers(browser, {});
});

afterEach(async () => {
  await users.closeAll();
  expect(users.problems.splice(0)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  const codes = await Promise.all(Object.values(servers).map((server) => server.stop()));
  project?.remove();
  packages?.remove();
  outside?.remove();
  expect(codes).toEqual([0, 0]);
});

/** Opens a page, and waits until its view is hydrated. */
async function open(kind: "built" | "dev", path = "/"): Promise<Page> {
  const page = await users.reusePage();
  await page.goto(`${servers[kind]?.address}${path}`);
  await expect
    .poll(async () => {
      await page.locator("button").click();
      return Number(await page.locator("button").textContent());
    })
    .toBeGreaterThan(0);
  return page;
}

const styleOf = (page: Page, selector: string, property: "color" | "paddingTop" | "paddingLeft" | "fontWeight") =>
  page.locator(selector).evaluate((element, name) => getComputedStyle(element)[name], property);

describe.each(IS_MATRIX ? (["built", "dev"] as const) : (["built"] as const))("an application that is %s", (kind) => {
  it("has the styles of Tailwind, of CSS modules and of PostCSS, on the server and in views, beside a document of MDX", async () => {
    const page = await open(kind);
    expect({
      tailwind: [await styleOf(page, "#page", "paddingTop"), await styleOf(page, "#card", "paddingLeft")],
      modules: [await styleOf(page, "#module", "color"), await styleOf(page, "#card", "color")],
      postcss: await styleOf(page, "#accent", "color"),
    }).toEqual({
      tailwind: ["13px", "17px"],
      modules: ["rgb(4, 5, 6)", "rgb(7, 8, 9)"],
      postcss: "rgb(1, 2, 3)",
    });
    expect(await page.locator("#card h2").textContent()).toBe("A note"); // a document of MDX in a view
  });

  it("has the style sheets of import(): at once those of pages and of imported modules, and in views when it runs", async () => {
    const page = await open(kind, "/late");
    const colors = async () => [
      await styleOf(page, "#page", "color"),
      await styleOf(page, "#part", "color"),
      await styleOf(page, "#late", "color"),
    ];
    expect(await colors()).toEqual(["rgb(9, 9, 1)", "rgb(9, 9, 2)", "rgb(9, 9, 1)"]);
    await page.locator("a").click();
    await expect.poll(() => page.locator("#chart").textContent()).toBe("Chart");
    expect(await colors()).toEqual(["rgb(9, 9, 1)", "rgb(9, 9, 2)", "rgb(9, 9, 3)"]);
    expect(await styleOf(page, "#chart", "color")).toBe("rgb(9, 9, 4)");
  });

  it("has the documents of MDX in pages and in views", async () => {
    const html = await (await fetch(servers[kind]?.address ?? "")).text();
    expect(html).toMatch(/<h1>About tsweb<\/h1>\s*<p>Written in <strong>MDX<\/strong>\.<\/p>/);
    expect(html).toMatch(/<h2>A note<\/h2>\s*<p>In a <em>view<\/em>\.<\/p>/);
  });
});

describe("a package of a workspace, outside of the application's folder", () => {
  it.each(["built", "dev"] as const)("has its views, style sheets, images and server functions, %s", async (kind) => {
    const page = await open(kind, "/linked");
    expect(await page.locator("h1").textContent()).toBe("Hello Ada!");
    expect(await styleOf(page, "#panel", "color")).toBe("rgb(8, 8, 1)");
    expect(await styleOf(page, "#panel", "paddingTop")).toBe("23px");
    expect(await page.locator("img").evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(9);
    await page.locator("a").click();
    await expect.poll(() => page.locator("#saved").textContent()).toBe("saved Label");
  });

  it("is served in development only as far as browser modules refer to it", async () => {
    await open("dev", "/linked");
    const statusOf = async (file: string) =>
      (await fetch(`${servers.dev?.address}/__web/dev/@fs${packages.file(file)}`)).status;
    expect(await Promise.all(["ui/panel.tsx", "ui/label.ts", "ui/own.css", "ui/logo.svg"].map(statusOf))).toEqual(
      Array<number>(4).fill(200),
    );
    const refused = [
      "ui/unused.ts",
      "ui/actions.server.ts",
      "ui/panel.tsx?raw",
      "ui/package.json",
      "greeting/index.js",
    ];
    expect(await Promise.all(refused.map(statusOf))).toEqual(refused.map(() => 404));
  });

  it("is updated in development, and keeps the state of its views", async () => {
    const page = await open("dev", "/linked");
    const count = await page.locator("button").textContent();
    packages.edit("ui/label.ts", "Label", "Edited label");
    await expect.poll(() => page.locator("#label").textContent()).toBe("Edited label");
    packages.edit("ui/own.css", "8, 8, 1", "8, 8, 2");
    await expect.poll(() => styleOf(page, "#panel", "color")).toBe("rgb(8, 8, 2)");
    expect(await page.locator("button").textContent()).toBe(count);
    packages.edit("greeting/word.js", "Hello", "Welcome");
    await expect.poll(() => page.locator("h1").textContent()).toBe("Welcome Ada!");
  });
});

describe("a package that a view imports", () => {
  /** Types a text in the first page, opens all others, and returns what they and the first page contain then. */
  async function visitAll(): Promise<{ words: (string | null)[]; typed: string; bundledLate: boolean }> {
    const [first, other] = [await users.reusePage(), await users.reusePage()];
    const address = servers.dev?.address ?? "";
    await first.goto(`${address}/first`, { waitUntil: "networkidle" });
    await first.fill("input", "typed");
    const words: (string | null)[] = [];
    for (const name of WORD_PAGES.slice(1)) {
      await other.goto(`${address}/${name}`, { waitUntil: "networkidle" });
      words.push(await other.locator("button").textContent());
    }
    const chart = other.waitForResponse(/chart-words/);
    await other.click("button");
    await chart;
    await other.waitForTimeout(500); // Vite bundles new packages after 100 ms, and logs them after 200 ms
    const bundledLate = /dependenc(?:y|ies) optimized|reloading/.test(servers.dev?.output() ?? "");
    return { words, typed: await first.inputValue("input"), bundledLate };
  }

  it("is bundled at the start, so that the first visit of another page does not reload pages", async () => {
    const words = ["beside", "outside", "names", "lazy"];
    expect(await visitAll()).toEqual({ words, typed: "typed", bundledLate: false });
  });

  it("is bundled at the next start if its import was added meanwhile, also beside a view with a syntax error", async () => {
    expect(await servers.dev?.stop()).toBe(0);
    project.edit("views/beside.tsx", "beside-words", "added-words");
    const restore = project.edit("views/broken.tsx", "import", "const = 1;\nimport");
    servers.dev = await startDev(project.dir);
    const words = ["added", "outside", "names", "lazy"];
    expect(await visitAll()).toEqual({ words, typed: "typed", bundledLate: false });
    expect(servers.dev.output()).not.toContain("Failed to run dependency scan");
    restore();
  });
});

it("in development, a page gets edits of MDX, new classes of Tailwind and new variables of PostCSS", async () => {
  const page = await open("dev");
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  for (const suffix of ["", "-wal"]) project.write(`shop.db${suffix}`, "A row"); // no edit: Tailwind depends on all files
  project.edit("src/note.mdx", "A note", "An edited note");
  await expect.poll(() => page.locator("#card h2").textContent()).toBe("An edited note");
  expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);
  project.edit("src/about.mdx", "About", "More about");
  await expect.poll(() => page.locator("h1").textContent()).toBe("More about tsweb");
  project.edit("src/pages.server.tsx", "pt-[13px]", "pt-[19px]");
  await expect.poll(() => styleOf(page, "#page", "paddingTop")).toBe("19px");
  project.edit("src/variables.css", "1, 2, 3", "10, 20, 30");
  await expect.poll(() => styleOf(page, "#accent", "color")).toBe("rgb(10, 20, 30)");
});

it("the types of docs/vite.md accept documents of MDX", () => {
  symlinkSync(repository, packages.file("node_modules/tsweb"), "dir"); // TypeScript looks only above the package
  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  expect(execFileSync(process.execPath, [tsc, "--types", ""], { cwd: project.dir, encoding: "utf8" })).toBe("");
});

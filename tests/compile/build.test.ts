import { describe, expect, it, test } from "vitest";
import { parseMarkedCode } from "#test/in-memory-modules";
import { tsweb } from "../../src/compile/vite.ts";
import { buildFailure, Project } from "./project.ts";

const MARKER = "MARKER-c0ffee";

const SERVER = `
  import { server, type int } from "tsweb";
  import { hidden } from "./hidden.ts";
  // ${MARKER} in a comment
  const secret = "${MARKER}";
  export const db = { secret, hidden };
  export const login = server(async (email: string, password = "${MARKER}-default", n: int = 3) => [email, password, n, db]);
  export const countdown = server(async function* (from: int = 3) { yield [from, secret]; });
  export interface User { name: "${MARKER}-type" }
`;

const FILES = {
  "src/app.ts":
    'import { App } from "tsweb";\nimport * as accounts from "./accounts.server.ts";\nexport default new App({ modules: [accounts] });',
  "src/accounts.server.ts": SERVER,
  "src/hidden.ts": `export const hidden = "${MARKER}-dependency";`,
};

const view = (head: string, body = "null") =>
  `import { view } from "tsweb/browser";\n${head}\nexport const View = view(() => <p onClick={() => { ${body}; }} />);`;

/** Returns the text of all output files, followed by the decoded data URLs. */
function outputText(output: readonly { text: string }[]): string {
  const text = output.map((file) => file.text).join("\n");
  const inlined = [...text.matchAll(/base64,([A-Za-z0-9+/=]+)/g)].map(([, data = ""]) =>
    Buffer.from(data, "base64").toString(),
  );
  return [text, ...inlined].join("\n");
}

describe("a build for the browser replaces a server module by", () => {
  const builds: [title: string, files: Record<string, string>, expected: string][] = [
    [
      "stubs",
      { "src/view.tsx": view('import { login, countdown } from "./accounts.server.ts";', 'login("a"); countdown(3)') },
      'stub("login", [',
    ],
    [
      "stubs, imported without the file extension and under an alias",
      { "src/view.tsx": view('import { login as signIn } from "./accounts.server";', "signIn()") },
      'stub("login", [',
    ],
    [
      "stubs, imported through a barrel module",
      {
        "src/view.tsx": view('import { login } from "./barrel.ts";', "login()"),
        "src/barrel.ts": 'export { login } from "./accounts.server.ts";',
      },
      'stub("login", [',
    ],
    [
      "stubs, re-exported by another server module",
      {
        "src/view.tsx": view('import { login } from "./more.server.ts";', "login()"),
        "src/more.server.ts": `export { login } from "./accounts.server.ts";\nexport const other = "${MARKER}-more";`,
        "src/app.ts":
          'import { App } from "tsweb";\nimport * as more from "./more.server.ts";\nexport default new App({ modules: [more] });',
      },
      'stub("login", [',
    ],
    [
      "stubs, in a worker",
      {
        "src/view.tsx": view("", 'new Worker(new URL("./worker.ts", import.meta.url), { type: "module" })'),
        "src/worker.ts": 'import { login } from "./accounts.server.ts";\nlogin("a");',
      },
      'stub("login", [',
    ],
    [
      "stubs, in a worker that is imported with ?worker",
      {
        "src/view.tsx": view('import Work from "./worker.ts?worker";', "new Work()"),
        "src/worker.ts": 'import { login } from "./accounts.server.ts";\nlogin("a");',
      },
      'stub("login", [',
    ],
    [
      "stubs, imported with import.meta.glob",
      { "src/view.tsx": view("", 'console.log(import.meta.glob("./*.server.ts"))') },
      'stub("login", [',
    ],
    [
      "nothing when only its types are imported",
      { "src/view.tsx": view('import type { User } from "./accounts.server.ts";\nexport let user: User;') },
      "View",
    ],
  ];
  test.each(builds)("%s", async (_title, files, expected) => {
    const text = outputText(await new Project({ ...FILES, ...files }).buildClient("src/view.tsx"));
    // Not toContain, which would print the whole output.
    expect(text.includes(expected)).toBe(true);
    expect(text.includes(MARKER)).toBe(false);
    expect(text.includes("new App")).toBe(false);
  });

  test("nothing for `import { type … }` with verbatimModuleSyntax", async () => {
    const project = new Project({
      ...FILES,
      "tsconfig.json": '{ "compilerOptions": { "verbatimModuleSyntax": true, "jsx": "react-jsx" } }',
      "src/view.tsx": view(
        'import { type User } from "./accounts.server.ts";\nimport { type int } from "tsweb";\nexport let user: User | int;',
      ),
    });
    const text = outputText(await project.buildClient("src/view.tsx"));
    expect(text.includes(MARKER)).toBe(false);
    expect(text.includes("stub(")).toBe(false);
  });
});

describe("a build for the browser fails on", () => {
  const rejected: [title: string, code: string, message: RegExp][] = [
    [
      "an import of a name that is not a server function",
      'import { «db } from "./accounts.server.ts";\nconsole.log(db);',
      /^"db" of src\/accounts\.server\.ts is not a server function/,
    ],
    [
      "an import of the text of a server module",
      'import text from «"./accounts.server.ts?raw";\nconsole.log(text);',
      /cannot be imported with "\?raw"/,
    ],
    [
      "an import of the URL of a server module",
      'import text from «"./accounts.server.ts?url";\nconsole.log(text);',
      /"\?url"/,
    ],
    [
      "new URL() of a server module",
      'console.log(new URL(«"./accounts.server.ts", import.meta.url).href);',
      /it has no URL in the browser/,
    ],
    [
      "a worker whose module is a server module",
      'new Worker(new URL(«"./accounts.server.ts", import.meta.url));',
      /it has no URL in the browser/,
    ],
    ["a dynamic import of a server module", 'console.log(import(«"./accounts.server.ts"));', /Import them by name/],
    ["a star re-export of a server module", 'export * from «"./accounts.server.ts";', /Export them by name/],
    [
      "an import of a Node module",
      'import { createHash } from «"node:crypto";\nconsole.log(createHash);',
      /is a Node module/,
    ],
    [
      "an import of a server entry point",
      'import { «session } from "tsweb";\nconsole.log(session);',
      /^session exists on the server only/,
    ],
    [
      "an environment variable",
      "export const a = «process.env.HOME;",
      /^process\.env\.HOME cannot be used in a module that browsers load/,
    ],
    ["React that is not installed", 'import { memo } from «"react";\nconsole.log(memo);', /^"react" is not installed/],
    ["a module of Next.js", 'import Link from «"next/link";\nconsole.log(Link);', /Write `<a href="\/…">`/],
    [
      "server() outside a server module",
      'import { server } from "tsweb";\nexport const f = «server(() => 1);',
      /Move this declaration to a file such as "view\.server\.tsx"/,
    ],
    [
      "a server call in markup",
      'import { login } from "./accounts.server.ts";\nexport const A = () => <p>{«login("a")}</p>;',
      /cannot be used in markup/,
    ],
  ];
  test.each(rejected)("%s", async (_title, code, message) => {
    const text = view(code);
    const project = new Project({ ...FILES, "src/view.tsx": parseMarkedCode(text).code });
    const error = await buildFailure(project.buildClient("src/view.tsx"));
    expect(error.message).toMatch(message);
    expect(error.id).toBe(project.file("src/view.tsx"));
    expect(error.loc).toMatchObject({ file: project.file("src/view.tsx"), ...parseMarkedCode(text).location });
    expect(error.frame).toContain("^");
  });

  test("an error in an imported server module, with the location in that module", async () => {
    const text = 'import { server } from "tsweb";\nexport const login = server((«...all: string[]) => all);';
    const project = new Project({
      "src/accounts.server.ts": parseMarkedCode(text).code,
      "src/view.tsx": view('import { login } from "./accounts.server.ts";', "login()"),
    });
    const error = await buildFailure(project.buildClient("src/view.tsx"));
    expect(error.message).toMatch(/cannot have a rest parameter/);
    expect(error.loc).toMatchObject({
      file: project.file("src/accounts.server.ts"),
      ...parseMarkedCode(text).location,
    });
  });

  test("an import of a stub whose module the application does not list", async () => {
    const text = view('import { «other } from "./other.server.ts";', "other()");
    const project = new Project({
      ...FILES,
      "src/other.server.ts": 'import { server } from "tsweb";\nexport const other = server(() => 1);',
      "src/view.tsx": parseMarkedCode(text).code,
    });
    const error = await buildFailure(project.buildClient("src/view.tsx"));
    expect(error.message).toMatch(/the application does not serve\. Add that module to `modules` in src\/app\.ts/);
    expect(error.loc).toMatchObject(parseMarkedCode(text).location ?? {});
  });

  test.each([
    [
      "a url() of a server module in a style sheet",
      {
        "src/view.css": 'p { background: url("./accounts.server.ts"); }',
        "src/view.tsx": view('import "./view.css";'),
      },
    ],
    [
      "a url() of a server module in a style sheet, relative to the root",
      {
        "src/view.css": 'p { background: url("/src/accounts.server.ts"); }',
        "src/view.tsx": view('import "./view.css";'),
      },
    ],
    [
      "the text of a server module through import.meta.glob",
      { "src/view.tsx": view("", 'console.log(import.meta.glob("./*.server.ts", { query: "?raw", eager: true }))') },
    ],
    [
      "the URL of a server module through import.meta.glob",
      { "src/view.tsx": view("", 'console.log(import.meta.glob("./*.server.ts", { query: "?url" }))') },
    ],
    [
      "the URL of a server module through a template",
      { "src/view.tsx": view("", "console.log(new URL(`./$" + "{name}.server.ts`, import.meta.url))") },
    ],
  ])("%s", async (_title, files) => {
    const project = new Project({ ...FILES, ...files });
    expect((await buildFailure(project.buildClient("src/view.tsx"))).message).toMatch(
      /is a server module|is server-only/,
    );
  });
});

describe("a build for the server", () => {
  test("contains every signature and the original code", async () => {
    const text = outputText(await new Project(FILES).buildServer("src/accounts.server.ts"));
    expect(text).toContain(MARKER);
    expect(text).toContain('"name": "login"');
    expect(text).toContain('"line": 7');
  });

  test("has a source map to the server modules", async () => {
    const output = await new Project(FILES).buildServer("src/accounts.server.ts");
    expect(output.some(({ text }) => text.includes("src/accounts.server.ts"))).toBe(true);
  });

  test("fails when two modules have server functions of one name", async () => {
    const text =
      'import { App } from "tsweb";\nimport * as a from "./accounts.server.ts";\nimport * as b from "./b.server.ts";\nexport default new App({ modules: [a, «b] });';
    const project = new Project({
      ...FILES,
      "src/b.server.ts": 'import { server } from "tsweb";\nexport const login = server(() => 1);',
      "src/app.ts": parseMarkedCode(text).code,
    });
    const error = await buildFailure(project.buildServer("src/app.ts"));
    expect(error.message).toMatch(
      /"login" is a server function of both src\/accounts\.server\.ts and src\/b\.server\.ts/,
    );
    expect(error.loc).toMatchObject({ file: project.file("src/app.ts"), ...parseMarkedCode(text).location });
  });

  test("fails on a function in a page's markup", async () => {
    const text = 'import { page } from "tsweb";\nexport const home = page("/", () => <button «onClick={() => 1} />);';
    const project = new Project({ "src/pages.server.tsx": parseMarkedCode(text).code });
    const error = await buildFailure(project.buildServer("src/pages.server.tsx"));
    expect(error.message).toMatch(/This function would never be called/);
    expect(error.loc).toMatchObject({ file: project.file("src/pages.server.tsx"), ...parseMarkedCode(text).location });
  });
});

describe("a build takes the text of a module from", () => {
  const VIEW = view('import { word } from "./word.ts";', "console.log(word)");

  it("a plugin of the application that loads it", async () => {
    const project = new Project({ ...FILES, "src/view.tsx": VIEW, "src/word.ts": 'export const word = "from file";' });
    const loader = {
      name: "test:loader",
      enforce: "post" as const,
      load: (id: string) => (id.endsWith("/word.ts") ? 'export const word = "from plugin";' : null),
    };
    const text = outputText(await project.buildClient("src/view.tsx", { plugins: [tsweb(), loader] }));
    expect(text).toContain("from plugin");
    expect(text).not.toContain("from file");
  });

  it("its file, which starts with a byte order mark", async () => {
    const files = {
      ...FILES,
      "src/view.tsx": `\uFEFF${VIEW}`,
      "src/word.ts": '\uFEFFexport const word = "from file";',
    };
    const text = outputText(await new Project(files).buildClient("src/view.tsx"));
    expect(text).toContain("from file");
  });
});

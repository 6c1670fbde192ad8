import { describe, expect, test } from "vitest";
import { parseMarkedCode } from "#test/in-memory-modules";
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
  `import { view } from "tsweb/browser";\n${head}\nexport const View = view(() => { ${body}; return <p />; });`;

/** Gives all text of a build's output, with whatever it inlined decoded. */
function textOf(output: readonly { text: string }[]): string {
  const text = output.map((file) => file.text).join("\n");
  const inlined = [...text.matchAll(/base64,([A-Za-z0-9+/=]+)/g)].map(([, data = ""]) =>
    Buffer.from(data, "base64").toString(),
  );
  return [text, ...inlined].join("\n");
}

describe("what a build for the browser holds of a server module", () => {
  const builds: [title: string, files: Record<string, string>, expected: string][] = [
    [
      "stubs",
      { "src/view.tsx": view('import { login, countdown } from "./accounts.server.ts";', 'login("a"); countdown(3)') },
      'stub("login", [',
    ],
    [
      "stubs, without the ending of its name and under another name",
      { "src/view.tsx": view('import { login as signIn } from "./accounts.server";', "signIn()") },
      'stub("login", [',
    ],
    [
      "stubs, through a barrel",
      {
        "src/view.tsx": view('import { login } from "./barrel.ts";', "login()"),
        "src/barrel.ts": 'export { login } from "./accounts.server.ts";',
      },
      'stub("login", [',
    ],
    [
      "stubs, through another server module",
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
      "stubs, in a worker by its query",
      {
        "src/view.tsx": view('import Work from "./worker.ts?worker";', "new Work()"),
        "src/worker.ts": 'import { login } from "./accounts.server.ts";\nlogin("a");',
      },
      'stub("login", [',
    ],
    [
      "stubs, through a glob",
      { "src/view.tsx": view("", 'console.log(import.meta.glob("./*.server.ts"))') },
      'stub("login", [',
    ],
    [
      "nothing, for its types",
      { "src/view.tsx": view('import type { User } from "./accounts.server.ts";\nexport let user: User;') },
      "View",
    ],
  ];
  test.each(builds)("%s", async (_title, files, expected) => {
    const text = textOf(await new Project({ ...FILES, ...files }).buildClient("src/view.tsx"));
    expect(text.includes(expected)).toBe(true);
    expect(text.includes(MARKER)).toBe(false); // not toContain, which would show the whole of it
    expect(text.includes("new App")).toBe(false);
  });

  test("types in braces alone, though every import is kept", async () => {
    const project = new Project({
      ...FILES,
      "tsconfig.json": '{ "compilerOptions": { "verbatimModuleSyntax": true, "jsx": "react-jsx" } }',
      "src/view.tsx": view(
        'import { type User } from "./accounts.server.ts";\nimport { type int } from "tsweb";\nexport let user: User | int;',
      ),
    });
    const text = textOf(await project.buildClient("src/view.tsx"));
    expect(text.includes(MARKER)).toBe(false);
    expect(text.includes("stub(")).toBe(false);
  });
});

describe("what a build for the browser is refused for", () => {
  const refused: [title: string, code: string, message: RegExp][] = [
    [
      "a name that is no server function",
      'import { «db } from "./accounts.server.ts";\nconsole.log(db);',
      /^"db" of src\/accounts\.server\.ts is not a server function/,
    ],
    [
      "its text",
      'import text from «"./accounts.server.ts?raw";\nconsole.log(text);',
      /cannot be asked for with "\?raw"/,
    ],
    ["its address", 'import text from «"./accounts.server.ts?url";\nconsole.log(text);', /"\?url"/],
    ["an asset made of it", 'console.log(new URL(«"./accounts.server.ts", import.meta.url).href);', /has no address/],
    ["a worker made of it", 'new Worker(new URL(«"./accounts.server.ts", import.meta.url));', /has no address/],
    ["a dynamic import", 'console.log(import(«"./accounts.server.ts"));', /import them by name/],
    ["a star", 'export * from «"./accounts.server.ts";', /name them/],
    ["a module of Node", 'import { createHash } from «"node:crypto";\nconsole.log(createHash);', /is a module of Node/],
    ["the server's door", 'import { session } from «"tsweb";\nconsole.log(session);', /is the server's side of tsweb/],
    [
      "server() outside a server module",
      'import { server } from "tsweb";\nexport const f = «server(() => 1);',
      /name this file "view\.server\.tsx"/,
    ],
    [
      "a server call in markup",
      'import { login } from "./accounts.server.ts";\nexport const A = () => <p>{«login("a")}</p>;',
      /cannot stand in markup/,
    ],
  ];
  test.each(refused)("%s", async (_title, code, message) => {
    const text = view(code);
    const project = new Project({ ...FILES, "src/view.tsx": parseMarkedCode(text).code });
    const error = await buildFailure(project.buildClient("src/view.tsx"));
    expect(error.message).toMatch(message);
    expect(error.id).toBe(project.file("src/view.tsx"));
    expect(error.loc).toMatchObject({ file: project.file("src/view.tsx"), ...parseMarkedCode(text).location });
    expect(error.frame).toContain("^");
  });

  test("what is wrong in the server module itself, at its own place", async () => {
    const text = 'import { server } from "tsweb";\nexport const login = server((«...all: string[]) => all);';
    const project = new Project({
      "src/accounts.server.ts": parseMarkedCode(text).code,
      "src/view.tsx": view('import { login } from "./accounts.server.ts";', "login()"),
    });
    const error = await buildFailure(project.buildClient("src/view.tsx"));
    expect(error.message).toMatch(/has no rest parameter/);
    expect(error.loc).toMatchObject({
      file: project.file("src/accounts.server.ts"),
      ...parseMarkedCode(text).location,
    });
  });

  test("a stub of a module that the application does not list", async () => {
    const text = view('import { «other } from "./other.server.ts";', "other()");
    const project = new Project({
      ...FILES,
      "src/other.server.ts": 'import { server } from "tsweb";\nexport const other = server(() => 1);',
      "src/view.tsx": parseMarkedCode(text).code,
    });
    const error = await buildFailure(project.buildClient("src/view.tsx"));
    expect(error.message).toMatch(/the application does not serve: add that module to `modules` in src\/app\.ts/);
    expect(error.loc).toMatchObject(parseMarkedCode(text).location ?? {});
  });

  test.each([
    [
      "an address in a style sheet",
      {
        "src/view.css": 'p { background: url("./accounts.server.ts"); }',
        "src/view.tsx": view('import "./view.css";'),
      },
    ],
    [
      "an address in a style sheet, by an alias",
      {
        "src/view.css": 'p { background: url("/src/accounts.server.ts"); }',
        "src/view.tsx": view('import "./view.css";'),
      },
    ],
    [
      "its text, through a glob",
      { "src/view.tsx": view("", 'console.log(import.meta.glob("./*.server.ts", { query: "?raw", eager: true }))') },
    ],
    [
      "its address, through a glob",
      { "src/view.tsx": view("", 'console.log(import.meta.glob("./*.server.ts", { query: "?url" }))') },
    ],
    [
      "its address, through a template",
      { "src/view.tsx": view("", "console.log(new URL(`./$" + "{name}.server.ts`, import.meta.url))") },
    ],
  ])("%s", async (_title, files) => {
    const project = new Project({ ...FILES, ...files });
    expect((await buildFailure(project.buildClient("src/view.tsx"))).message).toMatch(/is a server module/);
  });
});

describe("a build for the server", () => {
  test("has every signature, and the text as it was", async () => {
    const text = textOf(await new Project(FILES).buildServer("src/accounts.server.ts"));
    expect(text).toContain(MARKER);
    expect(text).toContain('"name": "login"');
    expect(text).toContain('"line": 7');
  });

  test("maps back to the lines of the source", async () => {
    const output = await new Project(FILES).buildServer("src/accounts.server.ts");
    expect(output.some(({ text }) => text.includes("src/accounts.server.ts"))).toBe(true);
  });

  test("is refused when two modules have functions of one name", async () => {
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

  test("is refused for a function in a page's markup", async () => {
    const text = 'import { page } from "tsweb";\nexport const home = page("/", () => <button «onClick={() => 1} />);';
    const project = new Project({ "src/pages.server.tsx": parseMarkedCode(text).code });
    const error = await buildFailure(project.buildServer("src/pages.server.tsx"));
    expect(error.message).toMatch(/Nothing would ever call this function/);
    expect(error.loc).toMatchObject({ file: project.file("src/pages.server.tsx"), ...parseMarkedCode(text).location });
  });
});

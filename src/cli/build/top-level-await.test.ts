import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TemporaryFolder } from "#test/temporary-folder";
import { hasTopLevelAwait, seemsToAwaitAtLoad } from "./server.ts";

describe("a module awaits while it is loaded", () => {
  it.each([
    "await start();",
    "const db = await import('./db.js');",
    "export const { a } = await load();",
    "if (x) { try { f(await y); } catch {} }",
    "for await (const line of lines) f(line);",
    "await using file = open();",
    "export default await load();",
    "class A extends (await load()) {}",
    "class A { [await name()] = 1 }",
    "class A { static [await name()]() {} }",
    "const f = () => 1, g = await f();",
    "const a = await(b);",
    "import b from './b.js';\nexports.a = await b;",
  ])("in %s", (code) => expect(hasTopLevelAwait(code)).toBe(true));

  it("in code that cannot be parsed, when unsure", () => expect(hasTopLevelAwait("await await = ;")).toBe(true));
});

describe("a module does not await while it is loaded", () => {
  it.each([
    "start();",
    "const text = 'await start()'; // await",
    "async function f() { await g(); for await (const a of b) c(a); }",
    "export const f = async () => await g();",
    "export default async () => { await g() };",
    "class A { async f() { await g(); } x = async () => await g(); static { void (async () => { await g() })() } }",
    "const o = { async f() { await g(); }, await: 1 }; o.await;",
    "(async () => { await g(); })();",
    "exports.start = start; async function start() { await g(); }",
    "Object.defineProperty(exports, '__esModule', { value: true });\nasync function start() { await g(); }",
  ])("in %s", (code) => expect(hasTopLevelAwait(code)).toBe(false));
});

describe("a project seems to await while it is loaded", () => {
  let folder: TemporaryFolder;
  beforeAll(() => {
    folder = new TemporaryFolder("await");
  });
  afterAll(() => folder.remove());

  it.each([
    [true, "db.server.ts", "await migrate(db);"],
    [true, "pages.server.tsx", 'import "./a.ts";\nexport const db: Database = await open();'],
    [false, "pages.server.tsx", "export const f = async () => await g();\n  await h;\nconst a = 1; // await b"],
    [false, "scripts/seed.ts", "await seed();"],
    [false, "db.server.test.ts", "await migrate(db);"],
  ])("%s for %s: %s", async (expected, name, text) => {
    const root = join(folder.path, `${expected}-${name}`);
    const file = join(root, "src", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    expect(await seemsToAwaitAtLoad(root)).toBe(expected);
  });
});

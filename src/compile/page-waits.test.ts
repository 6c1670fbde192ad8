import { describe, expect, it } from "vitest";
import { readModule } from "./modules/index.ts";
import { emitServerCode } from "./server-code.ts";

/** Compiles a page with this function in development. */
function compile(fn: string, hasWaits = true): string {
  const code = `import { page, Later } from "tsweb";\nexport const home = page("/", ${fn});`;
  const facts = readModule({ file: "/app/src/pages.server.tsx", code }, "/app");
  return emitServerCode(facts, { functions: [], queries: [] }, "/app", { hasWaits })?.code ?? "";
}

describe("the waits of pages", () => {
  it("measures what a page function awaits, with its source and line", () => {
    const code = compile("async ({ id }) => {\n  const a = await load(id);\n  return <p>{a}{await b}</p>;\n}");
    expect(code).toContain('const a = await _waited(load(id), "load(id)", 3);\n');
    expect(code).toContain('{a}{await _waited(b, "b", 4)}</p>;');
    expect(code).toContain('import { waited as _waited } from "tsweb/jsx-runtime";');
    expect(code.split("\n")[1]).toMatch(/^export const home/);
  });

  it("measures an await within another one, and in loops", () => {
    const code = compile("async () => { for (const a of list) await load(await next(a)); return null; }");
    expect(code).toContain('await _waited(load(await _waited(next(a), "next(a)", 2)), "load(await next(a))", 2)');
  });

  it("keeps two expressions one argument", () => {
    expect(compile("async () => { await (a, b); return null; }")).toContain('await _waited((a, b), "(a, b)", 2);');
  });

  it.each([
    ["the function of Later", "() => <Later>{async () => <p>{await load()}</p>}</Later>"],
    ["another inner function", "async () => { const f = async () => await load(); return <p>{f.name}</p>; }"],
    ["a page without await", "() => null"],
  ])("leaves %s as it is", (_, fn) => {
    expect(compile(fn)).not.toContain("waited");
  });

  it("shortens long sources", () => {
    expect(compile(`async () => await load("${"x".repeat(80)}")`)).toContain(`"load(\\"${"x".repeat(53)}…", 2)`);
  });

  it("changes nothing in a build", () => {
    expect(compile("async () => await load()", false)).not.toContain("waited");
  });
});

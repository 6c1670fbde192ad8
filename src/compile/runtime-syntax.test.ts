import { transformWithOxc } from "vite";
import { expect, it } from "vitest";
import { compileErrorOf } from "#test/in-memory-modules";
import { rejectUnsupportedSyntax } from "./unsupported-syntax.ts";

/** Compiles a module of TypeScript as Vite does, and checks the result. */
async function check(code: string, decorator: { legacy?: boolean } = {}): Promise<void> {
  const file = "/app/src/counts.ts";
  const compiled = await transformWithOxc(code, file, { decorator, tsconfig: false } as object);
  rejectUnsupportedSyntax(compiled.code, () => ({ file, code }));
}

it.each([
  ["type A = 1;\nclass Counts {\n  accessor total = 0;\n}", { line: 3, column: 2 }, "`accessor` fields"],
  ["const log = (fn: unknown) => fn;\nclass Counts {\n  @log() add() {}\n}", { line: 3, column: 2 }, "Decorators"],
  ["const sealed = (fn: unknown) => fn;\n@sealed\nclass Counts {}", { line: 2, column: 0 }, "Decorators"],
])("rejects what Node does not run, with its line in the source: %j", async (code, location, message) => {
  const error = await compileErrorOf(() => check(code));
  expect(error.loc).toMatchObject({ file: "/app/src/counts.ts", ...location });
  expect(error.message).toContain(message);
});

it("accepts decorators that were compiled, and other code with these characters", async () => {
  await check("const log = (fn: any) => fn;\nclass Counts {\n  @log add() {}\n}", { legacy: true });
  await check('const accessor = "a@example.org";\nexport const fields = { accessor };');
  expect(() => rejectUnsupportedSyntax("const @ = 1", () => ({ file: "/a.ts", code: "" }))).not.toThrow();
});

import { describe, expect, test } from "vitest";
import { compileErrorAt, compileErrorOf, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { compileServerModule, mayContainDeclarations } from "../server-code.ts";
import { checkReExportedValues } from "./no-effect.ts";

const HEAD =
  'import { NotFound, NotFound as Missing, RPCError, ValueError } from "tsweb";\nimport * as web from "tsweb";\n';

const FILES = ["src/guard.ts", "src/guard.server.ts", "src/guard.tsx"];

describe("an error of tsweb that is created and not thrown", () => {
  test.each([
    '«new NotFound("gone");',
    'if (!user) «new NotFound("gone");',
    'if (!user) { «new RPCError("forbidden", "No."); }',
    'user || «new ValueError("Empty.");',
    'user ?? «new NotFound("gone");',
    'user ? null : «new NotFound("gone");',
    '(«new NotFound("gone") as Error);',
    'void «new Missing("gone");',
    "«new Missing;",
    'await «new web.RPCError("forbidden", "No.");',
    'list.forEach((each) => { if (!each) «new ValueError("Empty."); });',
  ])("is a compile error in every module: %s", async (statement) => {
    for (const file of FILES) {
      const error = await compileErrorAt(file, `${HEAD}export async function guard(user, list) { ${statement} }`);
      expect(error.message).toMatch(
        /^This [\w.]+ is created and not thrown, so it has no effect\. Throw it: `throw new /,
      );
    }
  });

  test.each(["tsweb/browser", "tsweb/client", "tsweb/testing"])("is a compile error with the class of %s", (entry) => {
    const code = `import { RPCError } from "${entry}"; export const f = () => { new RPCError("gone", "No."); };`;
    expect(() => readTestModule("src/a.ts", code)).toThrow("is created and not thrown");
  });

  test("is reported with the fix", async () => {
    const messageOf = async (text: string) =>
      (await compileErrorOf(() => readTestModule("src/a.ts", `${HEAD}${text};`))).message;
    expect(await messageOf('new NotFound("gone")')).toBe(
      'This NotFound is created and not thrown, so it has no effect. Throw it: `throw new NotFound("gone")`.',
    );
    expect(await messageOf(`new web.ValueError("${"a".repeat(60)}")`)).toContain("`throw new web.ValueError(…)`");
    expect(await messageOf('new RPCError("gone",\n"No.")')).toContain("`throw new RPCError(…)`");
  });

  test.each([
    'throw new NotFound("gone");',
    'return new NotFound("gone");',
    'throw user ? new NotFound("gone") : new ValueError("Empty.");',
    'const error = new RPCError("gone", "No."); throw error;',
    'let error; error ??= new ValueError("Empty."); throw error;',
    'report(new ValueError("Empty."));',
    'await Promise.reject(new NotFound("gone"));',
    "list.map(() => new NotFound());",
    'new RPCError("gone", "No.").toString();',
    '{ class NotFound { constructor() { register(this); } } new NotFound("gone"); }',
    "list.forEach((ValueError) => { new ValueError(); });",
    'new user.NotFound("gone"); new Error("gone");',
  ])("is not found in %s", (statement) => {
    for (const file of FILES) {
      const text = `${HEAD}export async function guard(user, list) { ${statement} }`;
      expect(() => readTestModule(file, text)).not.toThrow();
    }
  });

  test("is only an error of tsweb, and no class of the project with such a name", () => {
    const code = 'import "tsweb"; import { NotFound } from "./errors.ts"; new NotFound("gone");';
    expect(() => readTestModule("src/a.ts", code)).not.toThrow();
  });

  test("is a compile error also where modules of the project re-export the class", async () => {
    const resolver = inMemoryResolver({ "src/errors.ts": 'export { NotFound as Missing, once } from "tsweb";' });
    const check = (code: string) => checkReExportedValues(readTestModule("src/a.ts", code), resolver);
    const text = 'import { Missing } from "./errors.ts"; «new Missing("gone");';
    const error = await compileErrorAt("src/a.ts", text, check);
    expect(error.message).toContain('`throw new Missing("gone")`');
    await expect(check(text.replace("«", "throw "))).resolves.toBeUndefined();
  });

  test("is found in a helper without declarations, which is otherwise not compiled", () => {
    const code = 'import { ValueError } from "tsweb";\nexport function guard() {\n  new ValueError("Empty.");\n}\n';
    const options = { file: "/app/src/guard.ts", root: "/app" };
    expect(mayContainDeclarations(code)).toBe(true);
    expect(() => compileServerModule(code, options)).toThrow("is created and not thrown");
    expect(compileServerModule(code.replace("  new", "  throw new"), options)).toBeUndefined();
    expect(mayContainDeclarations('import { NotFound } from "./errors.ts";')).toBe(false);
  });
});

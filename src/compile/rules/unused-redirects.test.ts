import { describe, expect, test } from "vitest";
import { compileErrorAt, compileErrorOf, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { compileServerModule, mayContainDeclarations } from "../server-code.ts";
import { checkReExportedValues } from "./no-effect.ts";

const HEAD = 'import { redirect, redirect as go, server } from "tsweb";\nimport * as web from "tsweb";\n';

const FILES = ["src/guard.ts", "src/guard.server.ts", "src/guard.tsx"];

describe("a redirect whose value is dropped", () => {
  test.each([
    '«redirect("/login");',
    'if (!user) «redirect("/login");',
    'for (;;) { «redirect("/login"); }',
    'await «redirect("/login");',
    'void «redirect("/login");',
    'void (await «redirect("/login"));',
    'user && «redirect("/login");',
    'user || «redirect("/login");',
    'user ?? «redirect("/login");',
    '«redirect("/login") && user;',
    'user ? «redirect("/login") : null;',
    'user ? null : «redirect("/login");',
    '«redirect("/login") ? 1 : 2;',
    'user(), «redirect("/login");',
    '(«redirect("/login") as unknown);',
    '«redirect("/login")!;',
    '«redirect?.("/login");',
    '«go("/login");',
    '«web.redirect("/login");',
    '«web["redirect"]("/login");',
    'list.forEach(() => { «redirect("/login"); });',
    'try { «redirect("/login"); } finally {}',
  ])("is a compile error in every module: %s", async (statement) => {
    for (const file of FILES) {
      const error = await compileErrorAt(file, `${HEAD}export async function guard(user, list) { ${statement} }`);
      expect(error.message).toMatch(/\(\) returns a value and has no effect here\./);
      expect(error.frame).toContain("/login");
    }
  });

  test("is reported with the fix", async () => {
    const messageOf = async (call: string) =>
      (await compileErrorOf(() => readTestModule("src/a.ts", `${HEAD}${call};`))).message;
    expect(await messageOf('redirect("/login")')).toBe(
      'redirect() returns a value and has no effect here. Write `throw redirect("/login")` or `return redirect(…)`.',
    );
    expect(await messageOf('go("/login")')).toContain('`throw go("/login")` or `return go(…)`');
    expect(await messageOf('redirect(\n"/login")')).toContain("`throw redirect(…)`");
    expect(await messageOf(`redirect("/${"a".repeat(60)}")`)).toContain("`throw redirect(…)`");
  });

  test.each([
    'return redirect("/login");',
    'throw redirect("/login");',
    'return user ? redirect("/a") : redirect("/b");',
    'const target = redirect("/login"); return target;',
    'let target; target = redirect("/login"); return target;',
    'list.map(() => redirect("/login"));',
    'return list.find(async () => await redirect("/login"));',
    'show(redirect("/login"));',
    'user.redirect("/login");',
    'redirect("/login").location.trim();',
    '{ const redirect = (path) => path; redirect("/login"); }',
    'list.forEach((redirect) => { redirect("/login"); });',
    'function go() {} go("/login");',
    '{ const web = list; web.redirect("/login"); }',
    "redirect;",
  ])("is not found in %s", (statement) => {
    for (const file of FILES) {
      expect(() =>
        readTestModule(file, `${HEAD}export async function guard(user, list) { ${statement} }`),
      ).not.toThrow();
    }
  });

  test.each([
    'import { redirect } from "./navigation.ts"; redirect("/");',
    'import { redirect } from "next/navigation"; import "tsweb"; redirect("/");',
    'import { request as redirect } from "tsweb"; redirect("/");',
    'import { redirect } from "tsweb"; export const toLogin = () => redirect("/login");',
  ])("is only a call of tsweb's function: %s", (text) => {
    expect(() => readTestModule("src/a.server.ts", text)).not.toThrow();
  });

  test("is found in a helper without declarations, which is otherwise not compiled", () => {
    const code = 'import { redirect } from "tsweb";\nexport function guard() {\n  redirect("/login");\n}\n';
    expect(mayContainDeclarations(code)).toBe(true);
    expect(() => compileServerModule(code, { file: "/app/src/guard.ts", root: "/app" })).toThrow("has no effect here");
    const valid = code.replace("  redirect", "  throw redirect");
    expect(compileServerModule(valid, { file: "/app/src/guard.ts", root: "/app" })).toBeUndefined();
    expect(mayContainDeclarations('const { redirect } = require("tsweb");')).toBe(false);
  });
});

describe("a redirect that modules of the project re-export", () => {
  const FILES = {
    "src/nav.ts": 'export { redirect, redirect as go } from "tsweb";\nexport const jump = (path) => path;',
    "src/all.ts": 'export * from "./nav.ts";\nexport * from "./stars.ts";',
    "src/stars.ts": 'export * from "tsweb";\nexport * from "./all.ts";',
    "src/imported.ts": 'import { redirect } from "tsweb";\nexport { redirect as leave };\nexport default redirect;',
    "src/own.ts": "export const redirect = (path) => track(path);",
  };
  const check = (code: string) => checkReExportedValues(readTestModule("src/a.ts", code), inMemoryResolver(FILES));

  test.each([
    'import { redirect } from "./nav.ts"; «redirect("/login");',
    'import { go as leave } from "./nav.ts"; if (!user) «leave("/login");',
    'import * as nav from "./nav.ts"; await «nav.go("/login");',
    'import { go } from "./all.ts"; «go("/login");',
    'import { redirect } from "./stars.ts"; «redirect("/login");',
    'import { leave } from "./imported.ts"; «leave("/login");',
  ])("is a compile error if its value is dropped: %s", async (text) => {
    const error = await compileErrorAt("src/a.ts", text, check);
    expect(error.message).toMatch(/\(\) returns a value and has no effect here\./);
  });

  test.each([
    'import { redirect } from "./nav.ts"; const f = () => redirect("/login");',
    'import { redirect } from "./own.ts"; redirect("/login");',
    'import { jump } from "./nav.ts"; jump("/login");',
    'import { redirect } from "other"; redirect("/login");',
    'import { redirect } from "./missing.ts"; redirect("/login");',
  ])("is accepted if its value is used, and if it is another function: %s", async (text) => {
    await expect(check(text)).resolves.toBeUndefined();
  });

  test("is looked for in modules without another import of tsweb", () => {
    expect(mayContainDeclarations('import { redirect } from "./nav.ts"; redirect("/");')).toBe(true);
  });
});

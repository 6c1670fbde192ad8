import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { compileErrorAt, compileErrorOf, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { TemporaryFolder } from "#test/temporary-folder";
import { readModule } from "../modules/index.ts";
import { checkModule } from "./index.ts";
import { checkForeignConventions, checkForeignImports, checkStubMembers } from "./other-frameworks.ts";

const NOTHING_INSTALLED = { ...inMemoryResolver({ "src/link.ts": "" }), isMissing: async () => true };

const check = (text: string, { isBrowserCode = true, resolver = NOTHING_INSTALLED } = {}) =>
  checkForeignImports(readTestModule("src/a.tsx", text), { ...resolver, side: isBrowserCode ? "browser" : "server" });

async function messageOf(text: string): Promise<string> {
  const error = await compileErrorAt("src/a.tsx", text, (text) => check(text));
  return error.message;
}

describe("React that is not installed", () => {
  test("is reported with the package that has its hooks", async () => {
    expect(await messageOf('import { type FC, useState, useEffect } from «"react";')).toBe(
      '"react" is not installed, and views are rendered with Preact. Import useState, useEffect from "preact/hooks", ' +
        'or use state, on_mount of "tsweb/browser".',
    );
    expect(await messageOf('import { useMemo } from «"react";')).toBe(
      '"react" is not installed, and views are rendered with Preact. Import useMemo from "preact/hooks".',
    );
  });

  test.each([
    'import React from «"react";',
    'import { memo, useState } from «"react";',
    'import { createPortal } from «"react-dom";',
  ])("is reported with the packages that stand for it: %s", async (text) => {
    expect(await messageOf(text)).toMatch(/npm install react@npm:@preact\/compat react-dom@npm:@preact\/compat$/);
  });

  test.each([
    'import type { FC } from "react";',
    'import { useState } from "preact/hooks";',
    'import { h } from "preact";',
    'import x from "react-confetti";',
  ])("does not concern other imports: %s", async (text) => {
    await expect(check(text)).resolves.toBeUndefined();
  });

  test("is accepted on the server, and where an alias stands for it", async () => {
    const text = 'import { useState } from "react";';
    await expect(check(text, { isBrowserCode: false })).resolves.toBeUndefined();
    const aliased = { ...NOTHING_INSTALLED, isMissing: async () => false };
    await expect(check(text, { resolver: aliased })).resolves.toBeUndefined();
  });
});

test("React itself is rejected at its import in browser code, and accepted in other modules", async () => {
  const folder = new TemporaryFolder("react");
  onTestFinished(() => folder.remove());
  const root = folder.path;
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  write("package.json", "{}");
  write("node_modules/react/package.json", '{ "name": "react", "version": "19.0.0" }');
  const facts = readModule({ file: join(root, "src/a.tsx"), code: '\nimport { useState } from "react";' }, root);
  const resolver = { ...NOTHING_INSTALLED, root, isMissing: async () => false };
  const error = await compileErrorOf(() => checkForeignImports(facts, { ...resolver, side: "browser" }));
  expect(error.message).toMatch(/which is React itself .*npm install react@npm:@preact\/compat/);
  expect(error.loc).toMatchObject({ line: 2, column: 25 });
  await expect(checkForeignImports(facts, { ...resolver, side: "server" })).resolves.toBeUndefined();
});

describe("a function that Preact does not have", () => {
  test.each(["useActionState", "useFormState", "useFormStatus", "useOptimistic"])("is rejected: %s", async (name) => {
    for (const source of ["react", "react-dom", "preact/hooks", "preact/compat"])
      expect(await messageOf(`import { useId, «${name} as x } from "${source}";`)).toMatch(
        new RegExp(`^Preact, which renders the views, has no ${name}\\. `),
      );
    await expect(check(`import { ${name} } from "other";`)).resolves.toBeUndefined();
    await expect(check(`import { type ${name} } from "preact/compat";`)).resolves.toBeUndefined();
  });

  test("is missing in the installed Preact", async () => {
    const names = { ...(await import("preact/hooks")), ...(await import("preact/compat")) };
    for (const name of ["useActionState", "useFormState", "useFormStatus", "useOptimistic"])
      expect(names).not.toHaveProperty(name);
    for (const name of ["useState", "useEffect", "useId"]) expect(names).toHaveProperty(name);
  });
});

describe("a module of Next.js", () => {
  test.each([
    ["next/link", /Write `<a href="\/…">`, or `<a href=\{user\.href\(\{ id \}\)\}>`/],
    ["next/server", /`route\("GET \/…", …\)`.*`before` of new App\.$/],
    ["next/cache", /use `revalidate` of "tsweb"\.$/],
    ["next/image.js", /Write `<img>`/],
    ["next/navigation", /`redirect`, `NotFound` and `request`/],
    ["next/headers", /`request\.set_cookie`/],
    ["next/font/google", /Remove this import\.$/],
  ])("is rejected with what replaces it: %s", async (specifier, fix) => {
    const message = await messageOf(`import x from «"${specifier}";`);
    expect(message).toMatch(new RegExp(`^"${specifier}" works in applications of Next\\.js only\\. `));
    expect(message).toMatch(fix);
  });

  test.each([
    'import type { Metadata } from "next/types";',
    'import x from "next-themes";',
    'import x from "./next/link.ts";',
  ])("is not another import: %s", async (text) => {
    await expect(check(text)).resolves.toBeUndefined();
  });

  test("is accepted where an alias leads to a module of the project", async () => {
    const resolver = { ...NOTHING_INSTALLED, resolve: async () => "/app/src/link.ts" };
    await expect(check('import Link from "next/link";', { resolver })).resolves.toBeUndefined();
  });
});

describe("a convention of Next.js", () => {
  const PAGE = 'import { page } from "tsweb";\nexport const home = page("/", () => null);\n';

  test.each(["getServerSideProps", "getStaticProps", "getStaticPaths", "generateStaticParams"])(
    "is rejected in a module with pages: %s",
    async (name) => {
      const facts = readTestModule("src/a.server.tsx", `${PAGE}export async function ${name}() {}`);
      const error = await compileErrorOf(() => checkForeignConventions(facts, { side: "server" }));
      expect(error.message).toMatch(new RegExp(`^Only Next\\.js calls ${name}: tsweb does not\\. `));
      expect(error.loc.line).toBe(3);
      const other = readTestModule("src/a.server.tsx", `export async function ${name}() {}`);
      expect(() => checkForeignConventions(other, { side: "server" })).not.toThrow();
    },
  );

  test.each(['«"use server";\nexport const f = () => 1;', "export const f = async () => { «'use server'; g(); };"])(
    "is rejected in browser code, where it protects nothing: %s",
    async (text) => {
      const facts = readTestModule("src/a.ts", text);
      const error = await compileErrorAt("src/a.ts", text, () => checkForeignConventions(facts, { side: "browser" }));
      expect(error.message).toMatch(/^"use server" has no effect, so this code would run in the browser\. /);
      expect(() => checkForeignConventions(facts, { side: "server" })).not.toThrow();
    },
  );

  test.each([
    '"use client";\nexport const f = 1;',
    'export const text = "use server";',
    'f("use server");',
    '("use server");',
  ])("is accepted where it has no meaning: %s", (text) => {
    expect(() => checkForeignConventions(readTestModule("src/a.ts", text), { side: "browser" })).not.toThrow();
  });
});

const FILES = {
  "src/book.server.ts": `
    import { server } from "tsweb";
    export const sign = server((name: string, text: string) => name + text);
    export const query = server(() => 1);
    export const client = { mutate() {}, query() {} };
  `,
  "src/barrel.ts": 'export { sign as add } from "./book.server.ts";',
  "src/client.ts": "export const sign = { mutate() {}, useQuery() {} };",
};

const HEAD = [
  'import { query, sign } from "./book.server.ts";',
  'import { client } from "./book.server.ts";',
  'import * as book from "./book.server.ts";',
  'import { add } from "./barrel.ts";',
  'import { sign as other } from "./client.ts";',
  'import { trpc } from "trpc-client";',
  "",
].join("\n");

const checkMembers = (text: string, file = "src/a.tsx") =>
  checkStubMembers(readTestModule(file, text), inMemoryResolver(FILES));

const inFunction = (statement: string) => `${HEAD}export async function run() { ${statement} }`;

describe("a method of other frameworks on an imported server function", () => {
  test.each([
    ['«sign.mutate({ name: "Ada" });', "sign has no mutate.", "await sign(name, text)"],
    ["const result = await «sign.query();", "sign has no query.", "await sign(name, text)"],
    ["const { data } = «sign.useQuery();", "sign has no useQuery.", "await sign(name, text)"],
    ["const add = «sign.useMutation();", "sign has no useMutation.", "await sign(name, text)"],
    ["«sign?.mutateAsync({});", "sign has no mutateAsync.", "await sign(name, text)"],
    ["later(() => «sign!.mutate());", "sign has no mutate.", "await sign(name, text)"],
    ["«query.query();", "query has no query.", "await query()"],
    ["«book.sign.mutate();", "book.sign has no mutate.", "await book.sign(name, text)"],
    ['«add["mutate"]();', "add has no mutate.", "await add(name, text)"],
  ])("is a compile error in browser code: %s", async (statement, problem, call) => {
    const error = await compileErrorAt("src/a.tsx", inFunction(statement), checkMembers);
    expect(error.message).toBe(
      `${problem} It is called like a function: \`${call}\`, in an event handler or in on_mount.`,
    );
  });
});

test("the method is reported, and not the call, where markup contains it and the server renders the view", async () => {
  const text = `import { view } from "tsweb/browser";\n${HEAD}export const Book = view(() => <p>{sign.useQuery().data}</p>);`;
  const error = await compileErrorOf(() => checkModule(readTestModule("src/a.tsx", text), inMemoryResolver(FILES)));
  expect(error.message).toMatch(/^sign has no useQuery\./);
});

test.each([
  'await sign("Ada", "Hello");',
  'await sign.named({ name: "Ada" });',
  "await query();",
  "await book.query();",
  "client.mutate();",
  "other.mutate(); other.useQuery();",
  "trpc.sign.mutate();",
  "const sign = trpc.sign; sign.mutate();",
  "run2(({ sign }) => sign.useMutation());",
  "return sign.query;",
])("other calls and members are accepted: %s", async (statement) => {
  await expect(checkMembers(inFunction(statement))).resolves.toBeUndefined();
});

test("a server module is not checked", async () => {
  await expect(checkMembers(inFunction("sign.mutate();"), "src/b.server.ts")).resolves.toBeUndefined();
});

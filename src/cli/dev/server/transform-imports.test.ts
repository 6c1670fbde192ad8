import type { RunnableDevEnvironment } from "vite";
import { expect, it } from "vitest";
import { transformImports } from "./app-loader.ts";

/** The imports of modules; `null` for a module that cannot be transformed. */
type Imports = Readonly<Record<string, readonly string[] | null>>;

/** Transforms a module of an application. Returns the requested modules, and how many were transformed at the same time at most. */
async function transform(imports: Imports, url: string, ran: Readonly<Record<string, object>> = {}) {
  const requested: string[] = [];
  let running = 0;
  let most = 0;
  const environment = {
    runner: { evaluatedModules: { getModuleByUrl: (id: string) => ran[id] && { id } } },
    moduleGraph: { getModuleById: (id: string) => ({ transformResult: ran[id] }) },
    async transformRequest(module: string) {
      requested.push(module);
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      const deps = imports[module];
      if (deps === null) throw new Error(`${module} has a mistake`);
      return { deps };
    },
  };
  await transformImports(environment as unknown as RunnableDevEnvironment, url); // it uses no other member
  return { requested, most };
}

it("transforms the imports of a module in parallel, each once, also in a cycle", async () => {
  const imports = { "/app.ts": ["/a.ts", "/b.ts"], "/a.ts": ["/c.ts"], "/b.ts": ["/c.ts", "/app.ts"], "/c.ts": [] };
  const { requested, most } = await transform(imports, "/app.ts");
  expect(requested).toEqual(["/app.ts", "/a.ts", "/b.ts", "/c.ts"]);
  expect(most).toBe(2);
});

it("does not transform a module again that has run, but what it imports by import()", async () => {
  const ran = { "/app.ts": { deps: ["/a.ts"], dynamicDeps: ["/late.ts"] }, "/a.ts": {} };
  expect((await transform({ "/late.ts": ["/b.ts"], "/b.ts": [] }, "/app.ts", ran)).requested).toEqual([
    "/late.ts",
    "/b.ts",
  ]);
});

it("does not transform packages", async () => {
  expect((await transform({ "/app.ts": ["tsweb", "node:fs", "/a.ts"], "/a.ts": [] }, "/app.ts")).requested).toEqual([
    "/app.ts",
    "/a.ts",
  ]);
});

it("continues after a module that cannot be transformed", async () => {
  expect((await transform({ "/app.ts": ["/a.ts", "/b.ts"], "/a.ts": null, "/b.ts": [] }, "/app.ts")).requested).toEqual(
    ["/app.ts", "/a.ts", "/b.ts"],
  );
});

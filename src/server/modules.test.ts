import { h } from "preact";
import { describe, expect, it } from "vitest";
import { compiledPage, compiledServer } from "#test/compiled-app";
import { page } from "../pages/index.ts";
import { checkCalledFunctions, listModules, type Module } from "./modules.ts";

describe("listModules", () => {
  it("returns the server functions and pages that modules export, and nothing else", () => {
    const add = compiledServer("add", () => 1);
    const home = compiledPage("/", () => null);
    const { functions, pages } = listModules([
      { add, helper: () => 1, limit: 3 },
      { home, default: home },
    ]);
    expect([...functions.keys()]).toEqual(["add"]);
    expect(pages.map(({ path }) => path)).toEqual(["/"]);
  });

  it("counts a function once that two modules export", () => {
    const add = compiledServer("add", () => 1);
    expect(listModules([{ add }, { add }]).functions.size).toBe(1);
  });

  it("rejects two functions of one name, and names both files", () => {
    const [one, two] = [compiledServer("add", () => 1), compiledServer("add", () => 2)];
    expect(() => listModules([{ add: one }, { add: two }])).toThrow(
      "two server functions are named add, in src/add.server.ts:1 and in src/add.server.ts:1",
    );
  });

  it("rejects a function that is exported under another name than its own", () => {
    expect(() => listModules([{ plus: compiledServer("add", () => 1) }])).toThrow(
      "add of src/add.server.ts is exported as plus",
    );
  });

  it("rejects two pages of one path, and names both files", () => {
    const [one, two] = [compiledPage("/a", () => null), compiledPage("/a", () => null)];
    expect(() => listModules([{ one }, { two }])).toThrow(/\/a is declared twice.*src\/pages\.server\.tsx:1/);
  });

  it("rejects two paths that differ only in the names of their parameters", () => {
    const listing = (...paths: string[]) =>
      listModules(paths.map((path) => ({ page: compiledPage(path, () => null) })));
    expect(() => listing("/users/:id", "/users/:name")).toThrow("GET /users/:name is declared twice");
    expect(() => listing("/docs/**:a", "/docs/**:b")).toThrow("is declared twice");
    expect(listing("/users/:id", "/users/new", "/users/:id(\\d+)", "/users/:id/posts").pages).toHaveLength(4);
  });

  it("rejects what is no module, as after an import of a missing default export", () => {
    const modules = [{ add: compiledServer("add", () => 1) }, undefined] as unknown as Parameters<
      typeof listModules
    >[0];
    expect(() => listModules(modules)).toThrow(
      'new App: modules[1] is undefined, and not a module. Import each module as a namespace: import * as pages from "./pages.server.tsx".',
    );
  });

  it("rejects what is no list, and names what it is", async () => {
    const list = (modules: unknown) => () => listModules(modules as readonly Module[]);
    expect(list(await import("./modules.ts"))).toThrow(
      'new App: modules must be a list of modules, and it is one module. Write modules: [pages], and import each module as a namespace: import * as pages from "./pages.server.tsx".',
    );
    expect(list({})).toThrow("a list of modules, and it is of type object.");
    expect(list(undefined)).toThrow("a list of modules, and it is undefined.");
  });

  it("rejects a module that serves nothing, and names its exports", () => {
    expect(() => listModules([{ helper: () => 1 }])).toThrow("modules[0] serves nothing. It exports helper");
    expect(() => listModules([{}])).toThrow("It exports nothing at all");
  });
});

describe("checkCalledFunctions", () => {
  const { functions } = listModules([{ add: compiledServer("add", () => 1) }]);

  it("accepts only functions that are served, by name and file", () => {
    const called = { name: "add", file: "src/add.server.ts", importer: "src/form.tsx" };
    expect(() => checkCalledFunctions([called], { functions })).not.toThrow();
    for (const other of [
      { ...called, name: "sub" },
      { ...called, file: "src/other.server.ts" },
    ]) {
      expect(() => checkCalledFunctions([other], { functions })).toThrow(
        `src/form.tsx calls ${other.name} of ${other.file}`,
      );
    }
  });
});

describe("page()", () => {
  it("throws in a module that was not compiled, with instructions to compile it", () => {
    for (const mark of [() => page("/", () => null), () => page("/", { title: "A" }, () => null)]) {
      expect(mark).toThrow(/was called in a module that tsweb has not compiled/);
    }
  });

  it.each<[unknown, string]>([
    [h("main", null), "it is markup. Write `() =>` before the markup."],
    ["Hello", "it is of type string. Write `() => <main>…</main>`."],
    [null, "it is null. Write"],
  ])("rejects what is no function, and names what it is: %s", (value, message) => {
    const source = { file: "src/pages.server.tsx", line: 1 };
    const expected = `page("/a"): the last argument must be a function that returns markup, and ${message}`;
    expect(() => Reflect.apply(page, undefined, ["/a", value, undefined, source])).toThrow(expected);
    expect(() => Reflect.apply(page, undefined, ["/a", {}, value, source])).toThrow(expected);
  });

  it.each(["", "a", "//a", "http://a.example/"])("rejects the path %j", (path) => {
    expect(() => compiledPage(path, () => null)).toThrow("must start with one slash");
  });
});

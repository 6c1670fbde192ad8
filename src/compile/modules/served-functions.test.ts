import { describe, expect, test } from "vitest";
import { compileErrorOf, inMemoryResolver, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { readModuleList, readServedFunctions, reExportedStubs, servedFunctions } from "./served-functions.ts";

const server = (...names: string[]) =>
  `import { server } from "tsweb";\n${names.map((name) => `export const ${name} = server(() => 1);`).join("\n")}`;

const FILES = {
  "src/a.server.ts": `${server("one", "two")}\nexport { three } from "./b.server.ts";`,
  "src/b.server.ts": server("three", "four"),
  "src/c.server.ts": server("one"),
  "src/star.server.ts": `${server("four")}\nexport * from "./b.server.ts";\nexport * from "./plain.ts";`,
  "src/renaming.server.ts": 'export { three as drei } from "./b.server.ts";',
  "src/importing.server.ts": 'import { three } from "./b.server.ts";\nexport { three };',
  "src/broken.server.ts": `${server("x")}\nexport default server(() => 1);`,
  "src/plain.ts": "export const three = 3;",
};

const app = (body: string) =>
  `import { App } from "tsweb";\nimport * as tsweb from "tsweb";\nimport { one } from "./a.server.ts";\nimport whole from "./a.server.ts";\n` +
  `import * as a from "./a.server.ts";\nimport * as b from "./b.server.ts";\nimport * as c from "./c.server.ts";\nimport * as broken from "./broken.server.ts";\n${body}`;

const entry = (body: string) => readTestModule("src/app.ts", app(body));

describe("the list of modules in new App()", () => {
  test.each([
    ["export default new App({ modules: [a, b] });", ["./a.server.ts", "./b.server.ts"]],
    ["export default new tsweb.App({ title: 'x', modules: [a] });", ["./a.server.ts"]],
    ["export default new tsweb['App']({ modules: [a] });", ["./a.server.ts"]],
    ["const modules = [a, b] as const;\nexport default new App({ modules });", ["./a.server.ts", "./b.server.ts"]],
    ["const list = [a];\nexport default new App({ modules: list } satisfies Options);", ["./a.server.ts"]],
    ["export default new App({ modules: [] });", []],
    ["export default new App({ modules: [a, ...more] });", undefined],
    ["export default new App({ modules: [one] });", undefined],
    ["export default new App({ modules: [whole] });", undefined],
    ["export default new App({ modules: [{ one }] });", undefined],
    ["export default new App({ modules: all() });", undefined],
    ["let modules = [a];\nexport default new App({ modules });", undefined],
    ["export default new App({ ...options, modules: [a] });", undefined],
    ["export default new App(options);", undefined],
    ["export default new App({ title: 'x' });", undefined],
    ["new App({ modules: [a] });\nnew App({ modules: [b] });", undefined],
    ["export default new Application({ modules: [a] });", undefined],
    ["export default new tsweb[App]({ modules: [a] });", undefined],
    ["export default make();", undefined],
  ])("is read from %s", (body, expected) => {
    expect(readModuleList(entry(body))?.map(({ source }) => source)).toEqual(expected);
  });

  test("is read only from the App class of tsweb", () => {
    const code = 'import { App } from "other";\nimport * as a from "./a.server.ts";\nnew App({ modules: [a] });';
    expect(readModuleList(readTestModule("src/app.ts", code))).toBeUndefined();
  });
});

describe("the served functions of an application", () => {
  test.each([
    ["all are read", readServedFunctions],
    ["each is looked up", servedFunctions],
  ])("include the functions that its modules declare and re-export, when %s", async (_title, functionsOf) => {
    const served = await functionsOf(entry("export default new App({ modules: [a] });"), inMemoryResolver(FILES));
    const has = async (file: string, name: string) => served?.has(`/app/src/${file}`, name);
    expect(await has("a.server.ts", "one")).toBe(true);
    expect(await has("b.server.ts", "three")).toBe(true);
    expect(await has("b.server.ts", "four")).toBe(false);
    expect(await has("c.server.ts", "one")).toBe(false);
    expect(served?.entry).toBe("src/app.ts");
  });

  test("are looked up in the module that declares them, without reading the others", async () => {
    const resolver = inMemoryResolver(FILES);
    const read: (string | undefined)[] = [];
    const served = await servedFunctions(entry("export default new App({ modules: [a, b] });"), {
      ...resolver,
      read: (id) => {
        read.push(id);
        return resolver.read(id);
      },
    });
    expect(await served?.has("/app/src/b.server.ts", "four")).toBe(true);
    expect(read).toEqual(["/app/src/b.server.ts"]);
  });

  test("may include any function when they are looked up and one of its modules cannot be read", async () => {
    const text = "export default new App({ modules: [a, broken] });";
    const served = await servedFunctions(entry(text), inMemoryResolver(FILES));
    expect(await served?.has("/app/src/b.server.ts", "four")).toBe(true);
  });

  test("are unknown when one of its modules cannot be read", async () => {
    expect(
      await readServedFunctions(entry("export default new App({ modules: [a, broken] });"), inMemoryResolver(FILES)),
    ).toBeUndefined();
  });

  test("may include one function through two modules", async () => {
    const served = await readServedFunctions(
      entry("export default new App({ modules: [a, b] });"),
      inMemoryResolver(FILES),
    );
    expect(served?.has("/app/src/b.server.ts", "three")).toBe(true);
  });

  test("must not include two functions of one name", async () => {
    const text = app("export default new App({ modules: [a, b, «c] });");
    const error = await compileErrorOf(() =>
      readServedFunctions(readTestModule("src/app.ts", text), inMemoryResolver(FILES)),
    );
    expect(error.message).toBe(
      '"one" is a server function of both src/a.server.ts and src/c.server.ts, but names are unique in an application. Rename one of them.',
    );
    expect(error.loc).toEqual({ file: "/app/src/app.ts", ...parseMarkedCode(text).location });
  });
});

describe("the server functions that a module re-exports", () => {
  test.each([
    ["src/a.server.ts", ["three ./b.server.ts"]],
    ["src/b.server.ts", []],
    ["src/star.server.ts", ["three ./b.server.ts"]],
    ["src/renaming.server.ts", []],
    ["src/importing.server.ts", ["three ./b.server.ts"]],
  ])("are read from %s", async (file, expected) => {
    const facts = readTestModule(file, FILES[file as keyof typeof FILES]); // the table contains keys of FILES only
    const functions = await reExportedStubs(facts, inMemoryResolver(FILES));
    expect(functions.map(({ name, source }) => `${name} ${source}`)).toEqual(expected);
  });
});

import { parseAst } from "vite";
import { describe, expect, test } from "vitest";
import { readTestModule } from "#test/in-memory-modules";
import { strictSignaturesWithin } from "./server-code.ts";
import { emitStubs, serverModuleOfStub, stubId } from "./stubs.ts";

describe("stubs", () => {
  const stubs = (code: string) =>
    emitStubs(readTestModule("src/a.server.ts", `import { server, type int } from "tsweb";\n${code}`));

  test("contain the names of functions and parameters and nothing else", () => {
    const code = `
      const SECRET = "k3y";
      export const login = server(async (email: string, password = SECRET) => email + password);
      export const countdown = server(async function* (from: int = 3) { yield from; });
      export const buy = server({ auth_required: true }, ({ item, n: m = 2 }: { item: string; n?: int }) => item);
      export const logout = server(() => null);
      export const other = SECRET;
    `;
    expect(stubs(code)).toBe(
      [
        'import { stream, stub } from "tsweb/stub";',
        'export const login = /*#__PURE__*/ stub("login", ["email","password"]);',
        'export const countdown = /*#__PURE__*/ stream("countdown", ["from"]);',
        'export const buy = /*#__PURE__*/ stub("buy");',
        'export const logout = /*#__PURE__*/ stub("logout", []);',
        "",
      ].join("\n"),
    );
  });

  test("of pages and routes contain their patterns and nothing else", () => {
    const code = `
      import { page, route, server } from "tsweb";
      export const link = page("/boards/:id", { title: "Board" }, () => "secret");
      const gone = route("GET /files/:name", () => new Response("secret"));
      export { gone as delete };
      export const hidden = page(pathOf("x"), () => null);
      export const save = server((id: string) => id);
    `;
    expect(emitStubs(readTestModule("src/a.server.ts", code))).toBe(
      [
        'import { link as link_, stub } from "tsweb/stub";',
        'export const save = /*#__PURE__*/ stub("save", ["id"]);',
        'export const link = /*#__PURE__*/ link_("/boards/:id");',
        'const $2 = /*#__PURE__*/ link_("GET /files/:name");',
        "export { $2 as delete };",
        "",
      ].join("\n"),
    );
  });

  test("have every name that an export can have", () => {
    const code = `
      const remove = server((id: string) => id);
      export { remove as delete };
      export const $0 = server(() => 0);
    `;
    const emitted = stubs(code);
    expect(parseAst(emitted).body).toHaveLength(5);
    expect(emitted).toContain('stub("delete", ["id"]);\nexport { $0 as delete };\n');
    expect(emitted).toContain("export { $1 as $0 };\n");
    expect(emitStubs({ functions: [] }, [{ name: "delete", source: "./b.ts" }])).toBe(
      'export { delete } from "./b.ts";\n',
    );
  });

  test("can send a key only for functions that may be idempotent, and others do not load the code of it", () => {
    const code = `
      const options = { idempotent: true };
      export const plain = server((n: int) => n);
      export const limited = server({ rpc_timeout: 5 }, (n: int) => n);
      export const pay = server({ idempotent: true }, (n: int) => n);
      export const quoted = server({ "idempotent": true } as const, (n: int) => n);
      export const shared = server(options, (n: int) => n);
      export const spread = server({ ...options }, (n: int) => n);
      export const count = server(options, function* (n: int) { yield n; });
    `;
    const factories = stubs(code).matchAll(/^export const (\w+) = \/\*#__PURE__\*\/ (\w+)/gm);
    expect(Array.from(factories, ([, name, factory]) => `${name} ${factory}`)).toEqual([
      "plain stub",
      "limited stub",
      "pay idempotent",
      "quoted idempotent",
      "shared idempotent",
      "spread idempotent",
      "count stream",
    ]);
  });

  test("send arguments with files as a form, which the stubs of other functions do not load", () => {
    const facts = readTestModule(
      "src/a.server.ts",
      `import { server } from "tsweb";
       export const login = server((email: string) => email);
       export const publish = server((title: string, photo?: File) => title);
       export const keyed = server(({ photos }: { photos: File[] }) => photos.length);`,
    );
    expect(emitStubs(strictSignaturesWithin(facts))).toBe(
      [
        'import { stub, upload } from "tsweb/stub";',
        'export const login = /*#__PURE__*/ stub("login", ["email"]);',
        'export const publish = /*#__PURE__*/ stub("publish", ["title","photo"], undefined, upload);',
        'export const keyed = /*#__PURE__*/ stub("keyed", undefined, undefined, upload);',
        "",
      ].join("\n"),
    );
  });

  test("of functions that are named like what stubs import are valid code", () => {
    const facts = readTestModule(
      "src/a.server.ts",
      `import { server } from "tsweb";
       export const upload = server((file: File) => file.size);
       export const stub = server(() => 1);
       export const stub_ = server(() => 1);
       export const stream = server(function* () {});`,
    );
    expect(emitStubs(strictSignaturesWithin(facts))).toBe(
      [
        'import { stream as stream_, stub as stub__, upload as upload_ } from "tsweb/stub";',
        'export const upload = /*#__PURE__*/ stub__("upload", ["file"], undefined, upload_);',
        'export const stub = /*#__PURE__*/ stub__("stub", []);',
        'export const stub_ = /*#__PURE__*/ stub__("stub_", []);',
        'export const stream = /*#__PURE__*/ stream_("stream", []);',
        "",
      ].join("\n"),
    );
  });

  test("import only the stub factories that they call", () => {
    expect(stubs("export const a = server(function* () {});")).toMatch(/^import \{ stream \} from "tsweb\/stub";\n/);
  });

  test("of a module without server functions are an empty module", () => {
    expect(stubs("export const SECRET = 1;")).toBe("export {};\n");
  });

  test("re-export the functions that the module re-exports", () => {
    expect(emitStubs({ functions: [] }, [{ name: "login", source: "./b.server.ts" }])).toBe(
      'export { login } from "./b.server.ts";\n',
    );
  });
});

describe("the id of a stub module", () => {
  test.each([
    ["/app/src/a.server.ts", "\0tsweb-stub:src/a.server.ts.js"],
    ["/app/src/pages.server.tsx", "\0tsweb-stub:src/pages.server.tsx.js"],
    ["/shared/lib/a.server.ts", "\0tsweb-stub:_up_/shared/lib/a.server.ts.js"],
    ["/app/src/we ird/ä.server.ts", "\0tsweb-stub:src/we ird/ä.server.ts.js"],
  ])("of %s is %j", (file, id) => {
    expect(stubId(file, "/app")).toBe(id);
    expect(serverModuleOfStub(id, "/app")).toBe(file);
  });

  test("of a module outside the root contains no ..", () => {
    const id = stubId("/code/packages/b/a.server.ts", "/code/apps/site");
    expect(id).toBe("\0tsweb-stub:_up_/_up_/packages/b/a.server.ts.js");
    expect(serverModuleOfStub(id, "/code/apps/site")).toBe("/code/packages/b/a.server.ts");
  });

  test.each([
    "\0tsweb-stub:src/secrets.ts.js",
    "\0tsweb-stub:.env.js",
    "\0tsweb-stub:src/a.server.ts",
    "\0tsweb-stub:node_modules/x/a.server.ts.js",
    "/app/src/a.server.ts",
  ])("%j is not the id of a stub module", (id) => {
    expect(serverModuleOfStub(id, "/app")).toBeUndefined();
  });
});

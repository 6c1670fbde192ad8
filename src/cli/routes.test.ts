import { describe, expect, it } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { typedServer } from "#test/typed-server";
import { route } from "../pages/index.ts";
import type { ServerOptions } from "../rpc/index.ts";
import { inspect } from "../server/index.ts";
import { routesText } from "./inspect.ts";

const home = compiledPage("/", () => "Hello");
const user = compiledPage("/users/:id", () => "Hello");
const hook = Reflect.apply(route, undefined, [
  "POST /hooks/stripe",
  () => new Response("got"),
  undefined,
  { file: "src/hooks.server.ts", line: 3 },
]);
const add = compiledServer("add", () => 0, { params: { a: "int", b: { type: "float", optional: true } } });
const order = compiledServer("order", () => 0, {
  keyed: true,
  params: { item: "any", n: { type: "any", optional: true } },
});
const secret = compiledServer("secret", () => 0, { options: { auth_required: true } });
const count = compiledServer(
  "count",
  function* () {
    yield 1;
  },
  { stream: true },
);

function routeLines(module: Readonly<Record<string, unknown>>, base = ""): string[] {
  return routesText(inspect(createTestApp(module, { base }))).split("\n");
}

describe("routesText", () => {
  it("lists pages, routes and functions with their locations", () => {
    expect(routeLines({ home, user, hook, add, secret, count })).toEqual([
      "Pages",
      "  GET     /           src/pages.server.tsx:1",
      "  GET     /users/:id  src/pages.server.tsx:1",
      "",
      "Routes",
      "  POST    /hooks/stripe  src/hooks.server.ts:3",
      "",
      "Functions, each a POST to /__web/rpc/<name>",
      "  add(a: int, b?: float)     src/add.server.ts:1",
      "  secret()  (auth_required)  src/secret.server.ts:1",
      "  count()  (stream)          src/count.server.ts:1",
      "",
    ]);
  });

  it("marks unchecked parameters, and describes how to check them", () => {
    const text = routeLines({ order, add }).join("\n");
    expect(text).toContain("order({ item: any*, n?: any* })");
    expect(text).toContain("add(a: int, b?: float) ");
    expect(text).toContain("* Not checked");
  });

  it("counts a schema as a check", () => {
    const schema = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } };
    const options = { validate: { email: schema } } as object;
    const join = compiledServer("join", () => 0, { params: { email: "any", name: "any" }, options });
    expect(routeLines({ join }).join("\n")).toContain("join(email: any, name: any*)");
    const sole = compiledServer("sole", () => 0, { params: { email: "any" }, options });
    expect(routeLines({ sole }).join("\n")).not.toContain("*");
  });

  it("omits empty sections, and lists paths below the base", () => {
    expect(routeLines({ home }, "/shop")).toEqual(["Pages", "  GET     /shop/  src/pages.server.tsx:1", ""]);
  });

  it("describes how to list a module if there are no pages, routes and functions", () => {
    expect(routesText(inspect(createTestApp({}, { modules: [] })))).toMatch(
      /^The application serves no pages, routes and functions: .*new App\(\{ modules: \[pages\] \}\);\n$/s,
    );
  });

  describe("for a strict application", () => {
    const declarations =
      "interface Order { id: string; at: Date; lines: { sku: string; note: unknown }[]; more?: Order }";
    const text = (module: Readonly<Record<string, unknown>>, strict = true) =>
      routesText(inspect(createTestApp(module, { strict })));

    it("marks only what strict cannot check", () => {
      const save = typedServer(["save", "name: string, tags: string[], at: Date, any, n: int"], () => 0);
      expect(text({ save })).toContain("save(name: string, tags: string[], at: Date*, any*, n: int)  src/save");
      expect(text({ save })).toContain("* Not checked");
      expect(text({ save })).not.toContain("strict: true");
      expect(text({ save }, false)).toContain("save(name: string*, tags: string[]*, at: Date*, any*, n: int)");
      expect(text({ save }, false)).toContain("new App({ strict: true }) checks more types.");
      const whole = typedServer(["whole", "name: string"], () => 0);
      expect(text({ whole })).not.toMatch(/[*~]/);
    });

    it("names the parts that strict cannot check", () => {
      const order = typedServer(["order", "order: Order, pair: [int, ...Date[]], map: Record<string, any>"], () => 0, {
        declarations,
      });
      const lines = text({ order }).split("\n");
      expect(lines[1]).toMatch(/^ {2}order\(order: Order~, pair: \[int, ...Date\[\]\]~, map: Record<string, any>~\)/);
      expect(lines.slice(3)).toEqual([
        "  ~ These parts are not checked:",
        "    order: order.at: Date",
        "    order: order.lines[].note: unknown",
        "    order: order.more.at: Date",
        "    order: order.more.lines[].note: unknown",
        "    order: pair[]: Date",
        "    order: map[…]: any",
        "",
      ]);
      expect(text({ order }, false)).toContain("order(order: Order*, ");
    });

    it("counts a schema as a check of the whole value", () => {
      const schema = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } };
      const options = { validate: { order: schema } } as ServerOptions;
      const order = typedServer(["order", "order: Order"], () => 0, { declarations, options });
      expect(text({ order })).not.toMatch(/[*~]/);
    });
  });
});

import { describe, expect, it } from "vitest";
import { appOf, compiledPage, compiledServer } from "#test/compiled";
import { typedServer } from "#test/typed";
import { route } from "../pages/index.ts";
import type { ServerOptions } from "../rpc/index.ts";
import { inspect } from "../server/inspection.ts";
import { routesText } from "./routes.ts";

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

function lines(module: Readonly<Record<string, unknown>>, base = ""): string[] {
  return routesText(inspect(appOf(module, { base }))).split("\n");
}

describe("the list of what an application serves", () => {
  it("has pages, routes and functions, and where each is written", () => {
    expect(lines({ home, user, hook, add, secret, count })).toEqual([
      "Pages",
      "  GET     /           src/pages.server.tsx:1",
      "  GET     /users/:id  src/pages.server.tsx:1",
      "",
      "Routes",
      "  POST    /hooks/stripe  src/hooks.server.ts:3",
      "",
      "Functions, each a POST to /__web/rpc/<name>",
      "  add(a: int, b?: float)  src/add.server.ts:1",
      "  secret()  (signed in)   src/secret.server.ts:1",
      "  count()  (a stream)     src/count.server.ts:1",
      "",
    ]);
  });

  it("marks what nothing checks, and says what can be done", () => {
    const text = lines({ order, add }).join("\n");
    expect(text).toContain("order({ item: any*, n?: any* })");
    expect(text).toContain("add(a: int, b?: float) ");
    expect(text).toContain("* Nothing checks it");
  });

  it("takes a schema for a check", () => {
    const schema = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } };
    const options = { validate: { email: schema } } as object;
    const join = compiledServer("join", () => 0, { params: { email: "any", name: "any" }, options });
    expect(lines({ join }).join("\n")).toContain("join(email: any, name: any*)");
    const sole = compiledServer("sole", () => 0, { params: { email: "any" }, options });
    expect(lines({ sole }).join("\n")).not.toContain("*");
  });

  it("leaves out what there is none of, and keeps to the base", () => {
    expect(lines({ home }, "/shop")).toEqual(["Pages", "  GET     /shop/  src/pages.server.tsx:1", ""]);
  });

  describe("of a strict application", () => {
    const around = "interface Order { id: string; at: Date; lines: { sku: string; note: unknown }[]; more?: Order }";
    const text = (module: Readonly<Record<string, unknown>>, strict = true) =>
      routesText(inspect(appOf(module, { strict })));

    it("marks what it cannot check either, and nothing else", () => {
      const save = typedServer(["save", "name: string, tags: string[], at: Date, any, n: int"], () => 0);
      expect(text({ save })).toContain("save(name: string, tags: string[], at: Date*, any*, n: int)  src/save");
      expect(text({ save })).toContain("* Nothing checks it");
      expect(text({ save })).not.toContain("strict: true");
      expect(text({ save }, false)).toContain("save(name: string*, tags: string[]*, at: Date*, any*, n: int)");
      expect(text({ save }, false)).toContain("With new App({ strict: true }) more types are checked.");
      const whole = typedServer(["whole", "name: string"], () => 0);
      expect(text({ whole })).not.toMatch(/[*~]/);
    });

    it("names the parts that it cannot check", () => {
      const order = typedServer(["order", "order: Order, pair: [int, ...Date[]], map: Record<string, any>"], () => 0, {
        around,
      });
      const lines = text({ order }).split("\n");
      expect(lines[1]).toMatch(/^ {2}order\(order: Order~, pair: \[int, ...Date\[\]\]~, map: Record<string, any>~\)/);
      expect(lines.slice(3)).toEqual([
        "  ~ Parts of it are not checked:",
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

    it("takes a schema for a check of the whole", () => {
      const schema = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } };
      const options = { validate: { order: schema } } as ServerOptions;
      const order = typedServer(["order", "order: Order"], () => 0, { around, options });
      expect(text({ order })).not.toMatch(/[*~]/);
    });
  });
});

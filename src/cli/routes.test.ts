import { describe, expect, it } from "vitest";
import { appOf, compiledPage, compiledServer } from "../../tests/support/compiled.ts";
import { inspect } from "../inspection.ts";
import { route } from "../pages/index.ts";
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
});

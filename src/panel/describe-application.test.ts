import { describe, expect, it } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import type { AppOptions } from "../app.ts";
import type { Parameter, TypeShape } from "../protocol/index.ts";
import { inspect } from "../server/index.ts";
import { describeApplication } from "./index.ts";

const describeModule = (module: object, options: Partial<AppOptions> = {}) =>
  describeApplication(inspect(createTestApp({ ...module }, options)));

/** Returns how the panel asks for a parameter. */
function describeParameter(parameter: Omit<Parameter, "name" | "annotation">, name = "value") {
  const fn = compiledServer("run", () => 0, { params: { [name]: parameter } });
  return describeModule({ run: fn }).functions[0]?.params[0];
}

const shape = (type: TypeShape): Omit<Parameter, "name" | "annotation"> => ({ type: "any", shape: type });

describe("the description of an application", () => {
  it("lists functions, pages and routes with their paths below the base and their locations", () => {
    const module = {
      add: compiledServer("add", () => 0, { options: { auth_required: true } }),
      count: compiledServer("count", function* () {}, { stream: true }),
      home: compiledPage("/orders/:id", () => ""),
      hook: compiledRoute("POST /hook", () => new Response()),
    };
    const { functions, endpoints } = describeModule(module, { base: "/shop" });
    expect(functions).toEqual([
      {
        ...{
          name: "add",
          path: "/shop/__web/rpc/add",
          formPath: "/shop/__web/form/add",
          location: "src/add.server.ts:1",
        },
        ...{ stream: false, requiresSignIn: true, params: [] },
      },
      {
        ...{ name: "count", path: "/shop/__web/rpc/count", formPath: "/shop/__web/form/count" },
        ...{ location: "src/count.server.ts:1", stream: true, requiresSignIn: false, params: [] },
      },
    ]);
    expect(endpoints).toEqual([
      { kind: "page", method: "GET", path: "/shop/orders/:id", location: "src/pages.server.tsx:1" },
      { kind: "route", method: "POST", path: "/shop/hook", location: "src/routes.server.ts:1" },
    ]);
  });

  it.each<[string, Omit<Parameter, "name" | "annotation">, string]>([
    ["int", { type: "int" }, "int"],
    ["float", { type: "float" }, "float"],
    ["boolean", { type: "boolean" }, "boolean"],
    ["a string", shape({ kinds: ["string"] }), "text"],
    ["an optional string", shape({ kinds: ["string"], optional: true }), "text"],
    ["a list", shape({ list: { of: { kinds: ["string"] } } }), "json"],
    ["a string or a number", shape({ kinds: ["string", "float"] }), "json"],
    ["a string or null", shape({ kinds: ["string"], nullable: true }), "json"],
    ["a number or null", { type: "int", nullable: true }, "json"],
    ["a number or a literal", { type: "int", literals: ["all"] }, "json"],
    ["literals", shape({ literals: ["small", "large"] }), "choice"],
    ["literals and a list", shape({ literals: ["all"], list: { of: {} } }), "json"],
    ["a type that is not known", { type: "any" }, "json"],
    ["a file", { type: "any", files: "one" }, "file"],
    ["files", { type: "any", files: "many" }, "files"],
  ])("asks for %s with the fitting field", (_, parameter, input) => {
    expect(describeParameter(parameter)?.input).toBe(input);
  });

  it("offers the values of literals, and marks parameters that are named like secrets", () => {
    expect(describeParameter(shape({ literals: ["small", 2] }))?.choices).toEqual(['"small"', "2"]);
    expect(describeParameter({ type: "any" }, "password")?.secret).toBe(true);
    expect(describeParameter({ type: "any" })?.secret).toBe(false);
  });

  it("shows which parameters are checked", () => {
    const fn = compiledServer("run", () => 0, { params: { a: "int", b: shape({ kinds: ["string"] }) } });
    const checks = (strict: boolean) =>
      describeModule({ run: fn }, { strict }).functions[0]?.params.map(({ checked }) => checked);
    expect([checks(false), checks(true)]).toEqual([
      ["full", "none"],
      ["full", "full"],
    ]);
  });
});

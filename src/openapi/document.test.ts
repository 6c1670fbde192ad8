import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { typedServer } from "#test/typed-server";
import type { App, AppOptions } from "../app.ts";
import { type ErrorCode, statusOf } from "../errors.ts";
import { inspect, requireInternals } from "../server/index.ts";
import { type Document, openapi } from "./index.ts";

const nothing = compiledServer("nothing", () => undefined);
const order = compiledServer("order", () => undefined, {
  params: {
    quantity: "int",
    price: "float",
    gift: "boolean",
    note: { type: "any", optional: true },
    floor: { type: "int", nullable: true, optional: true },
    size: { type: "int", literals: ["all", "none"] },
    width: { type: "float", literals: ["auto"], nullable: true },
  },
});
const buy = compiledServer("buy", () => undefined, { keyed: true, params: { item: "any" } });
const secret = compiledServer("secret", () => undefined, { options: { auth_required: true } });
const größe = compiledServer("größe", () => "L");
const count = compiledServer(
  "count",
  function* () {
    yield 1;
  },
  { stream: true },
);
const home = compiledPage("/", () => "Hello");

const save = typedServer(
  ["save", "name: string, size: 's' | 'm' | null, tags?: string[], pair?: [int, string?]"],
  () => 1,
);
const tree = typedServer(["tree", "tree: Tree"], () => 1, {
  declarations: "interface Tree { v: int; kids: Tree[]; up?: Tree | null; at: Date; sizes: Record<string, float> }",
});
const pay = typedServer(["pay", "by: { kind: 'card'; no: string } | { kind: 'iban' }, to: never"], () => 1);

const SECRET = { WEB_AUTH_SECRET: "5a".repeat(32) };
const WITH_CSRF = { env: { ...SECRET, WEB_CSRF_SECRET: "7b".repeat(32) } };
const whole = { nothing, order, buy, secret, größe, count, home };

function documentOf(functions: Readonly<Record<string, unknown>>, options: Partial<AppOptions> = {}): Document {
  return openapi(inspect(createTestApp(functions, options)), "1.2.3");
}

/** Returns the part of a document at these keys. */
function at(document: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((value, key) => (value as Readonly<Record<string, unknown>>)[key], document);
}

function operation(document: Document, name: string): unknown {
  return at(document.paths, `/__web/rpc/${name}`, "post");
}

function argumentsOf(document: Document, name: string): unknown {
  const body = at(operation(document, name), "requestBody", "content", "application/json", "schema");
  expect(body).toMatchObject({ type: "object", required: ["args"] });
  return at(body, "properties", "args");
}

describe("the OpenAPI document of an application", () => {
  it.each<[string, Readonly<Record<string, unknown>>, Partial<AppOptions>]>([
    ["of functions of all kinds and a page", whole, {}],
    ["with CSRF tokens", whole, WITH_CSRF],
    ["below a base, with a title", whole, { base: "/shop", title: "Shop" }],
    ["of one function", { nothing }, {}],
    ["of pages alone", { home }, {}],
    ["of a strict application", { save, tree, pay, order }, { strict: true }],
  ])("is valid: %s", async (_, functions, options) => {
    const validator = new Validator();
    // A copy, because the validator resolves references in place.
    const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(documentOf(functions, options))));
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
    expect(validator.version).toBe("3.1");
    validator.resolveRefs(); // throws for a dangling reference
  });

  it("has the application's title and version", () => {
    expect(documentOf(whole, { title: "Shop" }).info).toEqual({ title: "Shop", version: "1.2.3" });
    expect(documentOf(whole).info.title).not.toBe("");
    expect(openapi(inspect(createTestApp(whole))).info.version).toBe("0.0.0");
  });

  it("has a POST for each function, and nothing else", () => {
    const { paths } = documentOf(whole, { base: "/shop" });
    const names = ["nothing", "order", "buy", "secret", "gr%C3%B6%C3%9Fe", "count"];
    expect(Object.keys(paths)).toEqual(names.map((name) => `/shop/__web/rpc/${name}`));
    for (const path of Object.values(paths)) expect(Object.keys(path as object)).toEqual(["post"]);
  });

  it("names operations after functions, and groups them by module", () => {
    expect(operation(documentOf(whole), "order")).toMatchObject({ operationId: "order", tags: ["order"] });
  });
});

describe("the request body of an OpenAPI operation", () => {
  it("has a schema for what is checked, and the annotation as description", () => {
    const document = documentOf(whole);
    expect(argumentsOf(document, "order")).toEqual({
      type: "object",
      properties: {
        quantity: { type: "integer", description: "int" },
        price: { type: "number", description: "float" },
        gift: { type: "boolean", description: "boolean" },
        note: { description: "any" },
        floor: { type: ["integer", "null"], description: "int" },
        size: { anyOf: [{ type: "integer" }, { enum: ["all", "none"] }], description: "int" },
        width: { anyOf: [{ type: "number" }, { enum: ["auto", null] }], description: "float" },
      },
      required: ["quantity", "price", "gift", "size", "width"],
      additionalProperties: false,
    });
  });

  it("has the full types of parameters in a strict application, and only then", () => {
    const { properties } = argumentsOf(documentOf({ save }, { strict: true }), "save") as { properties: object };
    expect(properties).toEqual({
      name: { type: "string", description: "string" },
      size: { enum: ["s", "m", null], description: "'s' | 'm' | null" },
      tags: { type: "array", items: { type: "string" }, description: "string[]" },
      pair: {
        type: "array",
        prefixItems: [{ type: "integer" }, { anyOf: [{ type: "string" }, { enum: [null] }] }],
        items: false,
        minItems: 1,
        description: "[int, string?]",
      },
    });
    expect(argumentsOf(documentOf({ save }), "save")).toMatchObject({
      properties: { name: { description: "string" } },
    });
    const loose = argumentsOf(documentOf({ save }), "save") as { properties: { name: object } };
    expect(loose.properties.name).not.toHaveProperty("type");
  });

  it("refers to the schema of a recursive type", () => {
    const document = documentOf({ nothing, tree, pay }, { strict: true });
    const kids = { type: "array", items: { $ref: "#/components/schemas/Type2_1" } };
    const up = { anyOf: [{ enum: [null] }, { $ref: "#/components/schemas/Type2_1" }] };
    const sizes = { type: "object", properties: {}, additionalProperties: { type: "number" } };
    const schema = {
      type: "object",
      properties: { v: { type: "integer" }, kids, up, at: { description: "Date" }, sizes },
      required: ["v", "kids", "at", "sizes"],
    };
    expect(argumentsOf(document, "tree")).toMatchObject({ properties: { tree: schema } });
    expect(at(document.components, "schemas", "Type2_1")).toEqual(schema);
    expect(argumentsOf(document, "pay")).toMatchObject({
      properties: {
        by: {
          anyOf: [
            { properties: { kind: { enum: ["card"] }, no: { type: "string" } }, required: ["kind", "no"] },
            { properties: { kind: { enum: ["iban"] } }, required: ["kind"] },
          ],
        },
        to: {},
      },
    });
    expect(documentOf({ tree }).components).not.toHaveProperty("schemas.Type1_1");
  });

  it("describes a parameter with a Standard Schema by its annotation", () => {
    const schema = { "~standard": { version: 1 as const, vendor: "test", validate: (value: unknown) => ({ value }) } };
    const join = typedServer(["join", "email: string"], () => 1, { options: { validate: { email: schema } } });
    expect(argumentsOf(documentOf({ join }, { strict: true }), "join")).toMatchObject({
      properties: { email: { description: "string" } },
    });
  });

  it("has the keys of a keyed function", () => {
    expect(argumentsOf(documentOf(whole), "buy")).toMatchObject({ properties: { item: {} }, required: ["item"] });
  });

  it("has empty arguments for a function without parameters", () => {
    expect(argumentsOf(documentOf(whole), "nothing")).toEqual({
      type: "object",
      properties: {},
      additionalProperties: false,
    });
  });
});

describe("the responses of an OpenAPI operation", () => {
  it("are JSON, or NDJSON lines for a stream", () => {
    const document = documentOf(whole);
    const contentOf = (name: string) => at(operation(document, name), "responses", "200", "content") as object;
    expect(contentOf("nothing")).toMatchObject({ "application/json": { schema: { required: ["result"] } } });
    expect(Object.keys(contentOf("count"))).toEqual(["application/x-ndjson"]);
    expect(at(document.components, "schemas", "Line", "oneOf")).toHaveLength(3);
    expect(at(documentOf({ nothing }).components, "schemas")).not.toHaveProperty("Line");
  });

  it("documents every error code at its status", () => {
    const document = documentOf(whole);
    const codes = at(document.components, "schemas", "Error", "properties", "error", "properties", "code", "enum");
    expect(codes).toHaveLength(8);
    const responses = at(operation(document, "nothing"), "responses");
    for (const code of codes as ErrorCode[]) {
      expect(at(responses, String(statusOf(code)))).toEqual({ $ref: `#/components/responses/${code}` });
      expect(at(document.components, "responses", code, "content", "application/json", "schema")).toEqual({
        $ref: "#/components/schemas/Error",
      });
    }
    expect(Object.keys(responses as object)).toEqual(expect.arrayContaining(["408", "413", "415"]));
  });
});

describe("the security of an OpenAPI operation", () => {
  it("is the session cookie, under its configured name, for functions with auth_required", () => {
    const document = documentOf(whole);
    expect(operation(document, "secret")).toMatchObject({ security: [{ session: [] }] });
    expect(operation(document, "nothing")).not.toHaveProperty("security");
    const scheme = (document: Document) => at(document.components, "securitySchemes", "session");
    expect(scheme(document)).toMatchObject({ type: "apiKey", in: "cookie", name: "web_session" });
    expect(scheme(documentOf(whole, { env: { ...SECRET, WEB_COOKIE_SECURE: "1" } }))).toMatchObject({
      name: "__Host-web_session",
    });
  });

  it("includes the CSRF token if WEB_CSRF_SECRET is set", () => {
    const document = documentOf(whole, WITH_CSRF);
    expect(operation(document, "secret")).toMatchObject({
      parameters: [{ $ref: "#/components/parameters/csrf_token" }],
    });
    expect(operation(document, "nothing")).not.toHaveProperty("parameters");
    expect(operation(documentOf(whole), "secret")).not.toHaveProperty("parameters");
  });
});

describe("/__web/openapi.json", () => {
  const get = (app: App) => app.fetch(new Request(`http://shop.example${app.base}/__web/openapi.json`));

  it.each(["", "/shop"])("serves the document in development, below the base %j", async (base) => {
    const app = createTestApp(whole, { base });
    const assets = { styles: () => [], islands: null, view: () => null };
    const { setDevelopment } = requireInternals(app, "the test");
    Reflect.apply(setDevelopment, undefined, [{ assets, called: [], showError: async () => "" }]);
    const response = await get(app);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openapi(inspect(app)))));
  });

  it("responds with 404 outside of development", async () => {
    expect((await get(createTestApp(whole))).status).toBe(404);
  });
});

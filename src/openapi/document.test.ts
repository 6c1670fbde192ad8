import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";
import { documentedServer } from "#test/documented-server";
import { at, documentOf, home, nothing, operation, order, pay, save, tree, whole } from "#test/openapi-document";
import type { App, AppOptions } from "../app.ts";
import { type ErrorCode, statusOf } from "../errors.ts";
import { server } from "../rpc/index.ts";
import { inspect } from "../server/index.ts";
import { type Document, openapi } from "./index.ts";

const SECRET = { WEB_AUTH_SECRET: "5a".repeat(32) };
const WITH_CSRF = { env: { ...SECRET, WEB_CSRF_SECRET: "7b".repeat(32) } };

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

  it("has the application's title, and the version, description, author and license of the project", () => {
    expect(documentOf(whole, { title: "Shop" }).info).toEqual({
      title: "Shop",
      version: "1.2.3",
      description: "The server functions of Shop.",
    });
    expect(documentOf(whole).info.title).not.toBe("");
    expect(openapi(inspect(createTestApp(whole))).info.version).toBe("0.0.0");
    const project = { description: "Sells tea.", author: { name: "Ada", email: "ada@shop.example" }, license: "MIT" };
    expect(openapi(inspect(createTestApp(whole)), project).info).toMatchObject({
      description: "Sells tea.",
      contact: { name: "Ada", email: "ada@shop.example" },
      license: { name: "MIT", identifier: "MIT" },
    });
    const unlicensed = openapi(inspect(createTestApp(whole)), { license: "UNLICENSED" });
    expect(unlicensed.info.license).toEqual({ name: "UNLICENSED" });
  });

  it("has the origins of WEB_ORIGIN as servers, or else the server that the document comes from", () => {
    const env = { ...SECRET, WEB_ORIGIN: "https://shop.example,https://www.shop.example" };
    expect(documentOf(whole, { env }).servers).toEqual([
      { url: "https://shop.example" },
      { url: "https://www.shop.example" },
    ]);
    expect(documentOf(whole).servers).toEqual([{ url: "/" }]);
  });

  it("has a POST for each function, and nothing else", () => {
    const { paths } = documentOf(whole, { base: "/shop" });
    const names = ["nothing", "order", "buy", "secret", "gr%C3%B6%C3%9Fe", "count"];
    expect(Object.keys(paths)).toEqual(names.map((name) => `/shop/__web/rpc/${name}`));
    for (const path of Object.values(paths)) expect(Object.keys(path as object)).toEqual(["post"]);
  });

  it("names operations after functions, and groups them by module", () => {
    const document = documentOf(whole);
    expect(operation(document, "order")).toMatchObject({ operationId: "order", tags: ["order"] });
    expect(document.tags).toContainEqual({
      name: "order",
      description: "The server functions of `src/order.server.ts`.",
    });
    const inFolders = ["src/a/users.server.ts", "src/b/users.server.tsx", "lib/users.server.ts"].map((file, index) => {
      const signature = { name: `list${index}`, file, line: 1, params: [] };
      return [signature.name, Reflect.apply(server, undefined, [{}, () => 1, signature])] as const;
    });
    const { tags } = documentOf(Object.fromEntries(inFolders));
    expect(tags.map(({ name }) => name)).toEqual(["a/users", "b/users", "lib/users"]);
  });

  it("has unique operation ids that are safe in URLs", () => {
    const ids = (document: Document) => Object.values(document.paths).map((path) => at(path, "post", "operationId"));
    const names = ["größe", "gr$f6$e", "$", "_", "名"];
    const functions = Object.fromEntries(names.map((name) => [name, compiledServer(name, () => 1)]));
    expect(ids(documentOf(functions))).toEqual([
      "gr~C3~B6~C3~9Fe",
      "gr%24f6%24e".replaceAll("%", "~"),
      "~24",
      "_",
      "~E5~90~8D",
    ]);
  });
});

describe("the texts of an OpenAPI operation", () => {
  const documented = async (comment: string, params = "item: string, quantity: int = 1, at?: Date") => {
    const order = await documentedServer(`${comment}\nexport const order = server((${params}): int => 1);`);
    return operation(documentOf({ order }), "order");
  };

  it("are those of the doc comment", async () => {
    const comment = `/**
      * Orders an item. The order is final.
      *
      * @param item what to order
      * @param at when to deliver it
      * @returns the number of the order
      * @deprecated Use orderAll.
      */`;
    const order = await documented(comment);
    expect(order).toMatchObject({
      summary: "Orders an item",
      description: "Orders an item. The order is final.\n\nDeprecated: Use orderAll.",
      deprecated: true,
      responses: { "200": { description: "the number of the order" } },
    });
    expect(
      at(order, "requestBody", "content", "application/json", "schema", "properties", "args", "properties"),
    ).toEqual({
      item: { description: "what to order\n\n`string`" },
      quantity: { type: "integer", description: "`int`" },
      at: { description: "when to deliver it\n\n`Date`" },
    });
  });

  it("describe the keys of a destructured object, with or without its name", async () => {
    const comment = "/** @param options.item what to order\n @param quantity how many */";
    const order = await documented(comment, "{ item, quantity }: { item: int; quantity: int }");
    expect(
      at(order, "requestBody", "content", "application/json", "schema", "properties", "args", "properties"),
    ).toEqual({
      item: { type: "integer", description: "what to order" },
      quantity: { type: "integer", description: "how many" },
    });
  });

  it("are made of the function's name and parameters if there is no doc comment", async () => {
    expect(await documented("")).toMatchObject({
      summary: "Order",
      description: "Server function `order(item: string, quantity?: int, at?: Date)` of `src/shop.server.ts`.",
    });
    const names = { send_code: nothing, sendURLNow: nothing, _: nothing };
    const summaries = Object.keys(names).map((name) =>
      at(operation(documentOf({ [name]: compiledServer(name, () => 1) }), name), "summary"),
    );
    expect(summaries).toEqual(["Send code", "Send URL now", "_"]);
  });
});

describe("the responses of an OpenAPI operation", () => {
  it("are JSON, or NDJSON lines for a stream", () => {
    const document = documentOf(whole);
    const contentOf = (name: string) => at(operation(document, name), "responses", "200", "content") as object;
    expect(contentOf("nothing")).toMatchObject({ "application/json": { schema: { required: ["result"] } } });
    expect(contentOf("count")).toMatchObject({
      "application/x-ndjson": {
        schema: {
          type: "string",
          contentMediaType: "application/x-ndjson",
          contentSchema: { $ref: "#/components/schemas/count.Line" },
        },
      },
    });
    expect(at(document.components, "schemas", "count.Line", "oneOf")).toHaveLength(3);
    expect(at(documentOf({ nothing }).components, "schemas")).not.toHaveProperty("count.Line");
  });

  it("documents every error code at its status", () => {
    const document = documentOf(whole);
    const codes = at(document.components, "schemas", "Error", "properties", "error", "properties", "code", "enum");
    expect(codes).toHaveLength(8);
    expect(at(document.components, "responses", "body_too_large")).toMatchObject({
      content: { "application/json": { example: { error: { code: "validation_error", details: {} } } } },
    });
    const responses = at(operation(document, "nothing"), "responses");
    for (const code of codes as ErrorCode[]) {
      expect(at(responses, String(statusOf(code)))).toEqual({ $ref: `#/components/responses/${code}` });
      expect(at(document.components, "responses", code, "content", "application/json", "schema")).toEqual({
        $ref: "#/components/schemas/Error",
      });
    }
    expect(Object.keys(responses as object)).toEqual(expect.arrayContaining(["400", "408", "413", "415"]));
  });
});

describe("the security of an OpenAPI operation", () => {
  it("is the session cookie, under its configured name, for functions with auth_required", () => {
    const document = documentOf(whole);
    expect(operation(document, "secret")).toMatchObject({ security: [{ session: [] }] });
    expect(operation(document, "nothing")).toMatchObject({ security: [] });
    const scheme = (document: Document) => at(document.components, "securitySchemes", "session");
    expect(scheme(document)).toMatchObject({ type: "apiKey", in: "cookie", name: "web_session" });
    expect(scheme(documentOf(whole, { env: { ...SECRET, WEB_COOKIE_SECURE: "1" } }))).toMatchObject({
      name: "__Host-web_session",
    });
  });

  it("includes the CSRF token if WEB_CSRF_SECRET is set", () => {
    const document = documentOf(whole, WITH_CSRF);
    expect(operation(document, "secret")).toMatchObject({ security: [{ session: [], csrf: [] }] });
    expect(operation(document, "nothing")).toMatchObject({ security: [] });
    expect(at(document.components, "securitySchemes", "csrf")).toMatchObject({ in: "header", name: "x-csrf-token" });
    expect(at(document.components, "responses", "forbidden", "headers")).toHaveProperty("x-csrf-token");
    expect(operation(documentOf(whole), "secret")).toMatchObject({ security: [{ session: [] }] });
    expect(documentOf(whole).components).not.toHaveProperty("securitySchemes.csrf");
    expect(documentOf({ nothing }).components).not.toHaveProperty("securitySchemes");
  });
});

describe("the bearer scheme of an OpenAPI document", () => {
  const authenticate = () => null;
  const scheme = { type: "http", scheme: "bearer", description: expect.any(String) };

  it("is an alternative to the session cookie and the CSRF token, if the application has authenticate", () => {
    for (const [options, session] of [
      [{ authenticate }, { session: [] }],
      [
        { ...WITH_CSRF, authenticate },
        { session: [], csrf: [] },
      ],
    ] as const) {
      const document = documentOf(whole, options);
      expect(at(document.components, "securitySchemes", "bearer")).toEqual(scheme);
      expect(operation(document, "secret")).toHaveProperty("security", [session, { bearer: [] }]);
      expect(operation(document, "nothing")).toHaveProperty("security", []);
    }
    expect(documentOf(whole).components).not.toHaveProperty("securitySchemes.bearer");
  });

  it("is there without functions that require a user: all of them accept a token", () => {
    const { components } = documentOf({ nothing }, { authenticate });
    expect(components.securitySchemes).toEqual({ bearer: scheme });
  });
});

describe("/__web/openapi.json", () => {
  const get = (app: App) => app.fetch(new Request(`http://shop.example${app.base}/__web/openapi.json`));

  it.each(["", "/shop"])("serves the document in development, below the base %j", async (base) => {
    const app = createTestApp(whole, { base });
    setDevelopment(app, { openapi: () => JSON.stringify(openapi(inspect(app))) });
    const response = await get(app);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openapi(inspect(app)))));
  });

  it("responds with 404 outside of development", async () => {
    expect((await get(createTestApp(whole))).status).toBe(404);
  });
});

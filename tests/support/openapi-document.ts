/** An application with typical functions, and helpers that read its OpenAPI document. */
import { expect } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { typedServer } from "#test/typed-server";
import type { AppOptions } from "../../src/app.ts";
import { type Document, openapi } from "../../src/openapi/index.ts";
import { inspect } from "../../src/server/index.ts";

export const nothing = compiledServer("nothing", () => undefined);
export const order = compiledServer("order", () => undefined, {
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
export const home = compiledPage("/", () => "Hello");

export const save = typedServer(
  ["save", "name: string, size: 's' | 'm' | null, tags?: string[], pair?: [int, string?]"],
  () => 1,
);
export const tree = typedServer(["tree", "tree: Tree"], () => 1, {
  declarations: "interface Tree { v: int; kids: Tree[]; up?: Tree | null; at: Date; sizes: Record<string, float> }",
});
export const pay = typedServer(["pay", "by: { kind: 'card'; no: string } | { kind: 'iban' }, to: never"], () => 1);

/** All functions of a module, and a page. */
export const whole = { nothing, order, buy, secret, größe, count, home };

/** Returns the document of an application with these functions. */
export function documentOf(functions: Readonly<Record<string, unknown>>, options: Partial<AppOptions> = {}): Document {
  return openapi(inspect(createTestApp(functions, options)), { version: "1.2.3" });
}

/** Returns the part of a document at these keys. */
export function at(document: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((value, key) => (value as Readonly<Record<string, unknown>>)[key], document);
}

/** Returns the operation of a function. */
export function operation(document: Document, name: string): unknown {
  return at(document.paths, `/__web/rpc/${name}`, "post");
}

/** Returns the schema of the arguments of a function. */
export function argumentsOf(document: Document, name: string): unknown {
  const body = at(operation(document, name), "requestBody", "content", "application/json", "schema");
  expect(body).toMatchObject({ type: "object", required: ["args"] });
  return at(body, "properties", "args");
}

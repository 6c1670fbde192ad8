import { type } from "arktype";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { argumentsOf, at, documentOf, nothing, pay, save, tree, whole } from "#test/openapi-document";
import { typedServer } from "#test/typed-server";

describe("the request body of an OpenAPI operation", () => {
  it("has a schema for what is checked, and the annotation as description", () => {
    const document = documentOf(whole);
    expect(argumentsOf(document, "order")).toEqual({
      type: "object",
      properties: {
        quantity: { type: "integer", description: "`int`" },
        price: { type: "number", description: "`float`" },
        gift: { type: "boolean", description: "`boolean`" },
        note: { description: "`any`" },
        floor: { type: ["integer", "null"], description: "`int`" },
        size: { anyOf: [{ type: "integer" }, { type: "string", enum: ["all", "none"] }], description: "`int`" },
        width: { anyOf: [{ type: ["number", "null"] }, { type: "string", enum: ["auto"] }], description: "`float`" },
      },
      required: ["quantity", "price", "gift", "size", "width"],
      additionalProperties: false,
    });
  });

  it("has the full types of parameters in a strict application, and only then", () => {
    const { properties } = argumentsOf(documentOf({ save }, { strict: true }), "save") as { properties: object };
    expect(properties).toEqual({
      name: { type: "string", description: "`string`" },
      size: { type: ["string", "null"], enum: ["s", "m", null], description: "`'s' | 'm' | null`" },
      tags: { type: "array", items: { type: "string" }, description: "`string[]`" },
      pair: {
        type: "array",
        prefixItems: [{ type: "integer" }, { type: ["string", "null"] }],
        items: { not: {} },
        minItems: 1,
        description: "`[int, string?]`",
      },
    });
    expect(argumentsOf(documentOf({ save }), "save")).toMatchObject({
      properties: { name: { description: "`string`" } },
    });
    const loose = argumentsOf(documentOf({ save }), "save") as { properties: { name: object } };
    expect(loose.properties.name).not.toHaveProperty("type");
  });

  it("refers to the schema of a recursive type", () => {
    const document = documentOf({ nothing, tree, pay }, { strict: true });
    const kids = { type: "array", items: { $ref: "#/components/schemas/Tree" } };
    const up = { anyOf: [{ type: "null" }, { $ref: "#/components/schemas/Tree" }] };
    const sizes = { type: "object", properties: {}, additionalProperties: { type: "number" } };
    const schema = {
      type: "object",
      properties: { v: { type: "integer" }, kids, up, at: { description: "Date" }, sizes },
      required: ["v", "kids", "at", "sizes"],
    };
    expect(argumentsOf(document, "tree")).toMatchObject({ properties: { tree: schema } });
    expect(at(document.components, "schemas", "Tree")).toEqual(schema);
    expect(argumentsOf(document, "pay")).toMatchObject({
      properties: {
        by: {
          anyOf: [
            {
              properties: { kind: { type: "string", enum: ["card"] }, no: { type: "string" } },
              required: ["kind", "no"],
            },
            { properties: { kind: { type: "string", enum: ["iban"] } }, required: ["kind"] },
          ],
        },
        to: { not: {} },
      },
    });
    expect(documentOf({ tree }).components).not.toHaveProperty("schemas.Tree");
  });

  it("describes a parameter with a schema by its JSON Schema", () => {
    const node = z.object({
      name: z.string(),
      get kids() {
        return z.array(node);
      },
    });
    const validate = {
      email: z.email().describe("Where to send it"),
      tree: node,
      size: z.enum(["s", "m"]).default("m"),
      at: z.date(),
      length: type("3 <= number < 10"),
    };
    const join = typedServer(["join", "email: string, tree: Node, at: Date, length: float, size?: string"], () => 1, {
      options: { validate },
      declarations: "interface Node { name: string }",
    });
    const document = documentOf({ join });
    expect(argumentsOf(document, "join")).toMatchObject({
      properties: {
        email: { type: "string", format: "email" },
        tree: { $ref: "#/components/schemas/join.tree" },
        size: { type: "string", enum: ["s", "m"], default: "m" },
        at: { description: "`Date`" }, // JSON Schema has no dates
        length: { type: "number", minimum: 3, exclusiveMaximum: 10 },
      },
    });
    expect(at(document.components, "schemas", "join.tree")).toMatchObject({
      properties: { name: { type: "string" }, kids: { items: { $ref: "#/components/schemas/join.tree" } } },
    });
  });

  it("describes a parameter with a schema that has no JSON Schema by its annotation", () => {
    const schema = { "~standard": { version: 1 as const, vendor: "test", validate: (value: unknown) => ({ value }) } };
    const join = typedServer(["join", "email: string"], () => 1, { options: { validate: { email: schema } } });
    expect(argumentsOf(documentOf({ join }, { strict: true }), "join")).toMatchObject({
      properties: { email: { description: "`string`" } },
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

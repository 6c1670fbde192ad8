import type { StandardSchema } from "../rpc/index.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { SchemaRegistry } from "./schema-registry.ts";

/**
 * Returns the JSON Schema of a schema whose library implements Standard JSON Schema.
 *
 * @param side whether to describe what the schema accepts, or what it returns
 * @param name the name of schemas that it refers to, such as itself
 * @returns `undefined` if JSON Schema cannot describe it, such as a `Date`; the annotation describes it then
 * @see https://standardschema.dev/json-schema
 */
export function standardJsonSchema(
  schema: StandardSchema | undefined,
  side: "input" | "output",
  { name, registry }: { readonly name: string; readonly registry: SchemaRegistry },
): JsonObject | undefined {
  const root = convert(schema, side);
  if (!root) return undefined;
  const { $schema: _version, $defs, ...body } = root;
  const definitions = new Map<string, JsonObject>([["#", body]]);
  for (const [key, definition] of Object.entries(isObject($defs) ? $defs : {})) {
    if (!isObject(definition)) return undefined;
    definitions.set(`#/$defs/${key}`, definition);
  }
  const references = referencesIn(root);
  if (!references.every((reference) => definitions.has(reference))) return undefined;
  const refer = (reference: string): JsonObject => {
    const definition = definitions.get(reference) ?? {};
    const isRoot = reference === "#";
    const key = `schema ${name} ${reference} ${JSON.stringify(definition)}`;
    const preferred = isRoot ? name : `${name}.${reference.slice("#/$defs/".length)}`;
    return registry.refer(preferred, key, () => withReferences(definition, refer));
  };
  return references.includes("#") ? refer("#") : withReferences(body, refer);
}

function convert(schema: StandardSchema | undefined, side: "input" | "output"): JsonObject | undefined {
  const converter = schema?.["~standard"].jsonSchema?.[side];
  if (!converter) return undefined;
  try {
    // Through JSON, because libraries may add properties that JSON omits.
    const converted: unknown = JSON.parse(JSON.stringify(converter({ target: "draft-2020-12" })));
    return isObject(converted) ? converted : undefined;
  } catch {
    return undefined; // the library throws for a type that JSON Schema cannot describe
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the targets of all references in a schema. */
function referencesIn(schema: JsonValue): string[] {
  if (Array.isArray(schema)) return schema.flatMap(referencesIn);
  if (!isObject(schema)) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === "$ref" && typeof value === "string" ? [value] : referencesIn(value),
  );
}

/** Returns a schema with its references replaced. */
function withReferences(schema: JsonObject, refer: (reference: string) => JsonObject): JsonObject {
  const replace = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(replace);
    return isObject(value) ? withReferences(value, refer) : value;
  };
  const entries = Object.entries(schema).flatMap(([key, value]): [string, JsonValue][] =>
    // A property may be named `$ref`: its value is a schema then.
    key === "$ref" && typeof value === "string" ? Object.entries(refer(value)) : [[key, replace(value)]],
  );
  return Object.fromEntries(entries);
}

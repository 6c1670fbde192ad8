import type {
  ListShape,
  Literal,
  ObjectFields,
  ObjectShape,
  ScalarKind,
  StringFormat,
  TypeShape,
} from "../protocol/index.ts";
import type { StandardSchema } from "../rpc/index.ts";

/** Where the types of one function are described. */
export interface SchemaContext {
  readonly registry: SchemaRegistry;
  /** The recursive types that the shapes refer to. */
  readonly shapes: readonly TypeShape[];
}

const TYPES = { int: "integer", float: "number", boolean: "boolean", string: "string" } as const;

const FORMATS: Readonly<Record<StringFormat, JsonObject>> = {
  "date-time": { format: "date-time" },
  base64: { contentEncoding: "base64" },
};

/** Returns the JSON Schema of a type. An unchecked type is described by its source text, and accepts every value. */
export function shapeSchema(shape: TypeShape, context: SchemaContext): JsonObject {
  const { any, list, object, ref, alternatives = [] } = shape;
  if (any !== undefined) return any === "" ? {} : { description: any };
  const objects = object && ("cases" in object && object.name === undefined ? object.cases : [object]);
  const schemas: JsonObject[] = [
    ...scalarSchemas(shape),
    ...(list ? [listSchema(list, context)] : []),
    ...(objects ?? []).map((one) => namedObjectSchema(one, context)),
    ...(ref === undefined ? [] : [recursiveSchema(ref, context)]),
    ...alternatives.map((alternative) => shapeSchema(alternative, context)),
  ];
  const [first] = schemas;
  if (!first) return { not: {} };
  return schemas.length === 1 ? first : { anyOf: schemas };
}

/** Returns the JSON Schema of a value that may be `undefined`, where JSON has `null` for it. */
export function nullableSchema({ optional, ...shape }: TypeShape, context: SchemaContext): JsonObject {
  return shapeSchema(optional && shape.any === undefined ? { ...shape, nullable: true } : shape, context);
}

/** Returns the schemas of scalar types, of literals and of `null`. `null` is part of another schema if possible. */
function scalarSchemas({ kinds = [], literals = [], nullable, format }: TypeShape): JsonObject[] {
  const isFormatted = (kind: ScalarKind) => kind === "string" && format !== undefined;
  const plain: string[] = kinds.filter((kind) => !isFormatted(kind)).map((kind) => TYPES[kind]);
  const isNullInFormat = nullable && format !== undefined && plain.length === 0;
  const isNullInLiterals = nullable && kinds.length === 0 && literals.length > 0;
  if (nullable && !isNullInFormat && !isNullInLiterals) plain.push("null");
  const literalTypes = [...new Set(literals.map(typeOfLiteral))];
  return [
    ...(plain.length > 0 ? [{ type: oneOrAll(plain) }] : []),
    ...(format ? [{ type: isNullInFormat ? ["string", "null"] : "string", ...FORMATS[format] }] : []),
    ...(literals.length > 0
      ? [
          {
            type: oneOrAll(isNullInLiterals ? [...literalTypes, "null"] : literalTypes),
            enum: isNullInLiterals ? [...literals, null] : literals,
          },
        ]
      : []),
  ];
}

function typeOfLiteral(literal: Literal): string {
  return Number.isInteger(literal) ? "integer" : typeof literal;
}

function oneOrAll(types: readonly string[]): string | readonly string[] {
  const [first = "null"] = types;
  return types.length === 1 ? first : types;
}

function listSchema(list: ListShape, context: SchemaContext): JsonObject {
  if ("of" in list) return { type: "array", items: nullableSchema(list.of, context) };
  const { items, rest } = list;
  return {
    type: "array",
    ...(items.length > 0 ? { prefixItems: items.map((item) => nullableSchema(item, context)) } : {}),
    // Nothing matches this schema. `false` means the same, but linters and generators expect an object.
    items: rest ? nullableSchema(rest, context) : { not: {} },
    minItems: items.findLastIndex(({ optional }) => !optional) + 1,
  };
}

/** Returns a reference to an object type that has a name, or else its schema. */
function namedObjectSchema(object: ObjectShape, context: SchemaContext): JsonObject {
  const { name } = object;
  const build = () =>
    "cases" in object
      ? { anyOf: object.cases.map((fields) => namedObjectSchema(fields, context)) }
      : objectSchema(object, context);
  if (name === undefined) return build();
  return context.registry.refer(name, `${name}\n${typeKey({ object }, context.shapes)}`, build);
}

/** Additional members are allowed: those of an argument are removed, and a result may have more than its type. */
function objectSchema({ fields, rest }: ObjectFields, context: SchemaContext): JsonObject {
  const required = fields.filter(([, { optional }]) => !optional).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, shape]) => [name, shapeSchema(shape, context)])),
    ...(required.length > 0 ? { required } : {}),
    ...(rest ? { additionalProperties: shapeSchema(rest, context) } : {}),
  };
}

function recursiveSchema(ref: number, context: SchemaContext): JsonObject {
  const { name = "Type", ...shape } = context.shapes[ref] ?? {};
  const { object, ...others } = shape;
  if (object && Object.keys(others).length === 0) return namedObjectSchema({ ...object, name }, context);
  const key = `${name}\n${typeKey(shape, context.shapes)}`;
  return context.registry.refer(name, key, () => shapeSchema(shape, context));
}

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

/**
 * The named schemas of a document, `components.schemas`. Types of two modules that have the same name and differ get
 * different names: the second is `Order_2`.
 */
export class SchemaRegistry {
  readonly #names = new Map<string, string>();
  readonly #schemas = new Map<string, JsonObject>();

  /** @param fixed schemas whose names no type may have */
  constructor(fixed: Readonly<Record<string, JsonObject>>) {
    for (const [name, schema] of Object.entries(fixed)) this.#schemas.set(name, schema);
  }

  /**
   * Returns a reference to a schema, and adds it on first use.
   *
   * @param name the preferred name; characters that names of schemas cannot have are replaced
   * @param key identifies the schema: equal keys are one schema
   * @param build returns the schema; it may refer to the schema itself
   */
  refer(name: string, key: string, build: () => JsonObject): JsonObject {
    const existing = this.#names.get(key);
    if (existing !== undefined) return reference(existing);
    const free = this.#freeName(name.replace(/[^A-Za-z0-9._-]/g, "_"));
    this.#names.set(key, free);
    this.#schemas.set(free, {}); // reserves the name and its place
    this.#schemas.set(free, build());
    return reference(free);
  }

  #freeName(name: string): string {
    if (!this.#schemas.has(name)) return name;
    let suffix = 2;
    while (this.#schemas.has(`${name}_${suffix}`)) suffix++;
    return `${name}_${suffix}`;
  }

  /** Returns all schemas by their names, in the order of their first use. */
  schemas(): JsonObject {
    return Object.fromEntries(this.#schemas);
  }
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Returns a text that is equal for equal types, regardless of their names: the shape together with all recursive types
 * that it refers to. Their indexes differ between functions, so they are numbered by their order in the type.
 */
function typeKey(shape: TypeShape, shapes: readonly TypeShape[]): string {
  const order: number[] = [];
  const text = (part: TypeShape | undefined) =>
    JSON.stringify(part, (key, value: unknown) => {
      if (key === "name") return undefined;
      if (key !== "ref" || typeof value !== "number") return value;
      if (!order.includes(value)) order.push(value);
      return order.indexOf(value);
    });
  const parts = [text(shape)];
  for (let index = 0; index < order.length; index++) parts.push(text(shapes[order[index] ?? -1]));
  return parts.join("\n");
}

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

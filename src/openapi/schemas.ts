import type { ListShape, ObjectFields, Parameter, TypeShape } from "../protocol/index.ts";
import type { FunctionDefinition } from "../rpc/index.ts";
import type { JsonObject, JsonValue } from "./json.ts";

const TYPES = { int: "integer", float: "number", boolean: "boolean", string: "string" } as const;

/** The options of {@link bodySchema} and {@link shapeSchema}. */
export interface SchemaOptions {
  /** Whether the application is strict. Otherwise only coerced types are checked. */
  readonly strict: boolean;
  /** Returns the name of the schema of a recursive type. */
  readonly nameOf: (ref: number) => string;
}

/**
 * Returns the schema of a call's body. It describes the recommended types only: `"42"` is also accepted for an `int`,
 * because HTML forms send strings, but is not in the schema.
 */
export function bodySchema({ signature, options }: FunctionDefinition, schemaOptions: SchemaOptions): JsonObject {
  const { params } = signature;
  const required = params.filter((parameter) => !parameter.optional).map((parameter) => parameter.name);
  const schemaOf = (parameter: Parameter): JsonObject => {
    // A Standard Schema cannot be converted to JSON Schema, so the parameter is described by its annotation.
    const isShaped = schemaOptions.strict && !Object.hasOwn(options.validate ?? {}, parameter.name);
    return isShaped && parameter.shape
      ? { ...shapeSchema(parameter.shape, schemaOptions), ...description(parameter) }
      : parameterSchema(parameter);
  };
  const args: JsonObject = {
    type: "object",
    properties: Object.fromEntries(params.map((parameter) => [parameter.name, schemaOf(parameter)])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
  return { type: "object", properties: { args }, required: ["args"] };
}

/**
 * Returns the schema of a parameter that is only coerced. Its annotation becomes the description, because nothing else
 * of it is checked.
 */
function parameterSchema(parameter: Parameter): JsonObject {
  const { type, nullable, literals = [] } = parameter;
  if (type === "any") return description(parameter);
  if (literals.length === 0) {
    return { type: nullable ? [TYPES[type], "null"] : TYPES[type], ...description(parameter) };
  }
  const values = nullable ? [...literals, null] : literals;
  return { anyOf: [{ type: TYPES[type] }, { enum: values }], ...description(parameter) };
}

function description({ annotation }: Parameter): JsonObject {
  return annotation === "" ? {} : { description: annotation };
}

/** Returns the schema of a type that a strict application checks. */
export function shapeSchema(shape: TypeShape, schemaOptions: SchemaOptions): JsonObject {
  const { any, kinds = [], literals = [], nullable, list, object, ref } = shape;
  if (any !== undefined) return any === "" ? {} : { description: any };
  const values: readonly JsonValue[] = nullable ? [...literals, null] : literals;
  const objects = object && ("cases" in object ? object.cases : [object]);
  const forms: JsonObject[] = [
    ...kinds.map((kind) => ({ type: TYPES[kind] })),
    ...(values.length > 0 ? [{ enum: values }] : []),
    ...(list ? [listSchema(list, schemaOptions)] : []),
    ...(objects ?? []).map((fields) => objectSchema(fields, schemaOptions)),
    ...(ref === undefined ? [] : [{ $ref: `#/components/schemas/${schemaOptions.nameOf(ref)}` }]),
  ];
  const [first] = forms;
  if (!first) return { not: {} };
  return forms.length === 1 ? first : { anyOf: forms };
}

function listSchema(list: ListShape, schemaOptions: SchemaOptions): JsonObject {
  // In an array, `undefined` is sent as `null`.
  const item = (shape: TypeShape) => shapeSchema(shape.optional ? { ...shape, nullable: true } : shape, schemaOptions);
  if ("of" in list) return { type: "array", items: item(list.of) };
  const { items, rest } = list;
  return {
    type: "array",
    ...(items.length > 0 ? { prefixItems: items.map(item) } : {}),
    items: rest ? item(rest) : false,
    minItems: items.findLastIndex(({ optional }) => !optional) + 1,
  };
}

/** Additional members are allowed: they are removed from the value, not rejected. */
function objectSchema({ fields, rest }: ObjectFields, schemaOptions: SchemaOptions): JsonObject {
  const required = fields.filter(([, { optional }]) => !optional).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, shape]) => [name, shapeSchema(shape, schemaOptions)])),
    ...(required.length > 0 ? { required } : {}),
    ...(rest ? { additionalProperties: shapeSchema(rest, schemaOptions) } : {}),
  };
}

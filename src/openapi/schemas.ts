import type { ListShape, ObjectFields, Parameter, TypeShape } from "../protocol/index.ts";
import type { FunctionDefinition } from "../rpc/index.ts";
import type { JsonObject, JsonValue } from "./json.ts";

const TYPES = { int: "integer", float: "number", boolean: "boolean", string: "string" } as const;

/** What a description of parameters takes into account. */
export interface SchemaOptions {
  /** Whether the application is strict: only then is more checked than coercion does. */
  readonly strict: boolean;
  /** Gives the name of a schema of the document for a type that is made of itself. */
  readonly nameOf: (ref: number) => string;
}

/**
 * Describes the body of a call. It says what a caller should send; that `"42"` is taken for an
 * `int` too is a kindness to forms, and no part of it.
 */
export function bodySchema({ signature, options }: FunctionDefinition, describing: SchemaOptions): JsonObject {
  const { params } = signature;
  const required = params.filter((parameter) => !parameter.optional).map((parameter) => parameter.name);
  const schemaOf = (parameter: Parameter): JsonObject => {
    // A parameter with a schema is held to that, which says nothing of itself here.
    const isShaped = describing.strict && !Object.hasOwn(options.validate ?? {}, parameter.name);
    return isShaped && parameter.shape
      ? { ...shapeSchema(parameter.shape, describing), ...description(parameter) }
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
 * Describes a parameter by what is checked of it. Whatever else its annotation says is in words:
 * nothing holds a caller to it.
 */
function parameterSchema(parameter: Parameter): JsonObject {
  const { type, nullable, literals = [] } = parameter;
  if (type === "any") return description(parameter);
  if (literals.length === 0) {
    return { type: nullable ? [TYPES[type], "null"] : TYPES[type], ...description(parameter) };
  }
  const others = nullable ? [...literals, null] : literals;
  return { anyOf: [{ type: TYPES[type] }, { enum: others }], ...description(parameter) };
}

function description({ annotation }: Parameter): JsonObject {
  return annotation === "" ? {} : { description: annotation };
}

/** Describes what a strict application takes. */
export function shapeSchema(shape: TypeShape, describing: SchemaOptions): JsonObject {
  const { any, kinds = [], literals = [], nullable, list, object, ref } = shape;
  if (any !== undefined) return any === "" ? {} : { description: any };
  const values: readonly JsonValue[] = nullable ? [...literals, null] : literals;
  const objects = object && ("cases" in object ? object.cases : [object]);
  const forms: JsonObject[] = [
    ...kinds.map((kind) => ({ type: TYPES[kind] })),
    ...(values.length > 0 ? [{ enum: values }] : []),
    ...(list ? [listSchema(list, describing)] : []),
    ...(objects ?? []).map((each) => objectSchema(each, describing)),
    ...(ref === undefined ? [] : [{ $ref: `#/components/schemas/${describing.nameOf(ref)}` }]),
  ];
  const [only] = forms;
  if (!only) return { not: {} };
  return forms.length === 1 ? only : { anyOf: forms };
}

function listSchema(list: ListShape, describing: SchemaOptions): JsonObject {
  // In a list `undefined` travels as null.
  const item = (shape: TypeShape) => shapeSchema(shape.optional ? { ...shape, nullable: true } : shape, describing);
  if ("of" in list) return { type: "array", items: item(list.of) };
  const { items, rest } = list;
  return {
    type: "array",
    ...(items.length > 0 ? { prefixItems: items.map(item) } : {}),
    items: rest ? item(rest) : false,
    minItems: items.findLastIndex(({ optional }) => !optional) + 1,
  };
}

/** Members that a type does not name are left out, not refused, so nothing is said against them. */
function objectSchema({ fields, rest }: ObjectFields, describing: SchemaOptions): JsonObject {
  const required = fields.filter(([, { optional }]) => !optional).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, shape]) => [name, shapeSchema(shape, describing)])),
    ...(required.length > 0 ? { required } : {}),
    ...(rest ? { additionalProperties: shapeSchema(rest, describing) } : {}),
  };
}

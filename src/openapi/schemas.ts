import type { Parameter, Signature } from "../rpc/index.ts";
import type { JsonObject } from "./json.ts";

const TYPES = { int: "integer", float: "number", boolean: "boolean" } as const;

/**
 * Describes the body of a call. It says what a caller should send; that `"42"` is taken for an
 * `int` too is a kindness to forms, and no part of it.
 */
export function bodySchema({ params }: Pick<Signature, "params">): JsonObject {
  const required = params.filter((parameter) => !parameter.optional).map((parameter) => parameter.name);
  const args: JsonObject = {
    type: "object",
    properties: Object.fromEntries(params.map((parameter) => [parameter.name, parameterSchema(parameter)])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
  return { type: "object", properties: { args }, required: ["args"] };
}

/**
 * Describes a parameter by what is checked of it. Whatever else its annotation says is in words:
 * nothing holds a caller to it.
 */
function parameterSchema({ type, nullable, literals = [], annotation }: Parameter): JsonObject {
  const description: JsonObject = annotation === "" ? {} : { description: annotation };
  if (type === "any") return description;
  if (literals.length === 0) {
    return { type: nullable ? [TYPES[type], "null"] : TYPES[type], ...description };
  }
  const others = nullable ? [...literals, null] : literals;
  return { anyOf: [{ type: TYPES[type] }, { enum: others }], ...description };
}

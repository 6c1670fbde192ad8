import type { FormValue } from "../../src/bodies/index.ts";
import { buildFieldTree } from "../../src/forms/convert-field.ts";
import { bindFields } from "../../src/forms/form-arguments.ts";
import type { Parameter, Signature, TypeShape } from "../../src/protocol/index.ts";

/** The fields of a form: names and values, in their order. */
export type Entries = readonly (readonly [string, FormValue])[];

export const STRING: TypeShape = { kinds: ["string"] };
export const INT: TypeShape = { kinds: ["int"] };
export const BOOLEAN: TypeShape = { kinds: ["boolean"] };

/** The message for a required field that is missing or empty. */
export const REQUIRED = "This field is required.";

/** Returns a parameter of a type. */
export function parameter(
  name: string,
  shape: TypeShape | Parameter["type"],
  more: Partial<Parameter> = {},
): Parameter {
  if (typeof shape === "string") return { name, type: shape, annotation: shape, ...more };
  return { name, type: "any", annotation: "", shape, ...more };
}

/** Binds fields to parameters, of which `schemas` have a schema. Messages are in a plain object. */
export function bind(
  params: readonly Parameter[],
  entries: Entries,
  more: Partial<Signature> & { schemas?: string[] } = {},
) {
  const { schemas = [], ...rest } = more;
  const fields = new Map<string, FormValue[]>();
  for (const [name, value] of entries) fields.set(name, [...(fields.get(name) ?? []), value]);
  const signature: Signature = { name: "f", file: "f.server.ts", line: 1, params, ...rest };
  const bound = bindFields(signature, buildFieldTree(fields), (name) => schemas.includes(name));
  return { ...bound, errors: Object.fromEntries(bound.errors) };
}

/** Returns the value of one parameter `x`, or the messages of its fields. */
export function bindOne(
  shape: TypeShape | Parameter["type"],
  entries: Entries,
  more: Partial<Parameter> = {},
): unknown {
  const { args, errors } = bind([parameter("x", shape, more)], entries);
  return Object.keys(errors).length > 0 ? { errors } : args[0];
}

/** Returns what {@link bindOne} returns for a refused field. */
export function refused(message: string, field = "x"): unknown {
  return { errors: { [field]: message } };
}

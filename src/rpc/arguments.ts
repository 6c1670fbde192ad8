import { RPCError } from "../errors.ts";
import { coerce, expected, REFUSED } from "./coerce.ts";
import type { Parameter, Signature } from "./signature.ts";

/** The most of a refused value that is shown back to its sender. */
const SHOWN = 40;

/**
 * Matches a call's arguments with the parameters by name and coerces each.
 *
 * @returns what the function is called with: the values in order, or for a keyed function the one object
 * @throws RPCError `validation_error` that names the parameter, in `details` too
 */
export function bindArguments(signature: Signature, args: Readonly<Record<string, unknown>>): unknown[] {
  refuseExtra(signature, args);
  if (signature.keyed) return [bindFields(signature.params, args)];
  const values = signature.params.map((parameter) => bindOne(parameter, args));
  // A default is taken where nothing was given, also when it is not the last parameter.
  let { length } = values;
  while (length > 0 && values[length - 1] === undefined) length--;
  return length === values.length ? values : values.slice(0, length);
}

function bindFields(params: readonly Parameter[], args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  // Without a prototype: a parameter named `constructor` that was left out must not find one there.
  const fields: Record<string, unknown> = Object.create(null);
  for (const parameter of params) {
    const value = bindOne(parameter, args);
    if (value !== undefined) fields[parameter.name] = value;
  }
  return fields;
}

function bindOne(parameter: Parameter, args: Readonly<Record<string, unknown>>): unknown {
  const { name } = parameter;
  const given = Object.hasOwn(args, name) ? args[name] : undefined;
  if (given === undefined) {
    if (parameter.optional) return undefined;
    const takes = expected(parameter);
    throw invalid(name, takes, `${name}: ${parameter.type === "any" ? "a value" : takes} is required`);
  }
  const value = coerce(parameter, given);
  if (value !== REFUSED) return value;
  const takes = expected(parameter);
  throw invalid(name, takes, `${name}: expected ${takes}, got ${shown(given)}`);
}

function refuseExtra({ name, params }: Signature, args: Readonly<Record<string, unknown>>): void {
  for (const given in args) {
    if (params.some((parameter) => parameter.name === given)) continue;
    const takes = params.length === 0 ? "no parameters" : params.map((parameter) => parameter.name).join(", ");
    const parameter = given.slice(0, SHOWN);
    throw invalid(parameter, "nothing", `${name} has no parameter ${JSON.stringify(parameter)}; it takes ${takes}`);
  }
}

function invalid(parameter: string, takes: string, message: string): RPCError {
  return new RPCError("validation_error", message, { parameter, expected: takes });
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

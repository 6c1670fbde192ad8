import { RPCError } from "../errors.ts";
import type { Parameter, Signature } from "../protocol/index.ts";
import { coerce, expected, REFUSED } from "./coerce.ts";
import { instead, placeIn } from "./place.ts";
import type { Refusal, StrictCheck, StrictChecks } from "./strict.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** The most of a name that is no parameter which is told. */
const MOST_OF_A_NAME = 40;

/**
 * Matches a call's arguments with the parameters by name, and takes each as its type has it.
 *
 * @param strict what a strict application checks of them; the others are coerced alone
 * @returns what the function is called with: the values in order, or for a keyed function the one object
 * @throws RPCError `validation_error` that names the parameter, in `details` too
 */
export function bindArguments(signature: Signature, args: Arguments, strict?: StrictChecks): unknown[] {
  refuseExtra(signature, args);
  if (signature.keyed) return [bindFields(signature.params, args, strict)];
  const values = signature.params.map((parameter) => bindOne(parameter, args, strict));
  // A default is taken where nothing was given, also when it is not the last parameter.
  let { length } = values;
  while (length > 0 && values[length - 1] === undefined) length--;
  return length === values.length ? values : values.slice(0, length);
}

function bindFields(
  params: readonly Parameter[],
  args: Arguments,
  strict: StrictChecks | undefined,
): Record<string, unknown> {
  // Without a prototype: a parameter named `constructor` that was left out must not find one there.
  const fields: Record<string, unknown> = Object.create(null);
  for (const parameter of params) {
    const value = bindOne(parameter, args, strict);
    if (value !== undefined) fields[parameter.name] = value;
  }
  return fields;
}

function bindOne(parameter: Parameter, args: Arguments, strict: StrictChecks | undefined): unknown {
  const { name } = parameter;
  const check = strict?.get(name);
  const given = Object.hasOwn(args, name) ? args[name] : undefined;
  if (given === undefined) {
    if (parameter.optional) return undefined;
    const takes = check?.takes ?? expected(parameter);
    throw invalid(name, takes, `${name}: ${takes === "any" ? "a value" : takes} is required`);
  }
  if (check) return bindStrictly(name, check, given);
  const value = coerce(parameter, given);
  if (value !== REFUSED) return value;
  const takes = expected(parameter);
  throw invalid(name, takes, `${name}: expected ${takes}${instead(name, given)}`);
}

function bindStrictly(name: string, { takes, check }: StrictCheck, given: unknown): unknown {
  const refusal: Refusal = { expected: takes, got: given, path: [] };
  const value = check(given, refusal);
  if (value !== REFUSED) return value;
  const place = placeIn(name, refusal.path.reverse());
  const { expected: wanted, got } = refusal;
  const why = got === undefined ? `${wanted} is required` : `expected ${wanted}${instead(place, got)}`;
  throw invalid(name, wanted, `${place}: ${why}`, place);
}

function refuseExtra({ name, params }: Signature, args: Arguments): void {
  for (const given in args) {
    if (params.some((parameter) => parameter.name === given)) continue;
    const takes = params.length === 0 ? "no parameters" : params.map((parameter) => parameter.name).join(", ");
    const parameter = given.slice(0, MOST_OF_A_NAME);
    throw invalid(parameter, "nothing", `${name} has no parameter ${JSON.stringify(parameter)}; it takes ${takes}`);
  }
}

/** @param place where in the parameter, when that is not the whole of it */
function invalid(parameter: string, takes: string, message: string, place = parameter): RPCError {
  const path = place === parameter ? {} : { path: place };
  return new RPCError("validation_error", message, { parameter, expected: takes, ...path });
}

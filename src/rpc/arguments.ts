import { RPCError } from "../errors.ts";
import type { Arguments, Parameter, Signature } from "../protocol/index.ts";
import { coerce, describeExpected, MISMATCH } from "./coerce.ts";
import { bindFiles, describeFiles, fileAdvice } from "./file-arguments.ts";
import type { ParameterCheck, ParameterChecks, TypeMismatch } from "./strict-checks.ts";
import { describeReceived, valuePath } from "./value-path.ts";

/** The maximum length at which an unknown name is shown in an error, in characters. */
const MAX_NAME_LENGTH = 40;

/**
 * Assigns the arguments of a call to the parameters by name, and coerces or checks each by its type.
 *
 * @param strict the checks of a strict application; parameters without one are only coerced
 * @returns the arguments of the function: the values in order, or one object for a keyed function
 * @throws RPCError `validation_error`, whose message and `details` name the parameter
 * @see docs/protocol.md 4.1 and 4.4
 */
export function bindArguments(signature: Signature, args: Arguments, strict?: ParameterChecks): unknown[] {
  rejectUnknownNames(signature, args);
  const input: CallInput = { args, strict };
  if (signature.keyed) return [bindKeyed(signature, input)];
  const values = signature.params.map((parameter) => bindOne(signature, parameter, input));
  // Trailing `undefined` is removed, so that `arguments.length` is that of a direct call. Defaults apply either way.
  let { length } = values;
  while (length > 0 && values[length - 1] === undefined) length--;
  return length === values.length ? values : values.slice(0, length);
}

function bindKeyed(signature: Signature, input: CallInput): Record<string, unknown> {
  // Without a prototype: an omitted parameter named `constructor` must not be inherited.
  const fields: Record<string, unknown> = Object.create(null);
  for (const parameter of signature.params) {
    const value = bindOne(signature, parameter, input);
    if (value !== undefined) fields[parameter.name] = value;
  }
  return fields;
}

/** The arguments of a call, and the checks of a strict application. */
interface CallInput {
  readonly args: Arguments;
  readonly strict: ParameterChecks | undefined;
}

function bindOne(signature: Signature, parameter: Parameter, { args, strict }: CallInput): unknown {
  const { name } = parameter;
  if (parameter.files) return bindFileParameter(signature, parameter, args);
  const check = strict?.get(name);
  const received = Object.hasOwn(args, name) ? args[name] : undefined;
  if (received === undefined) {
    if (parameter.optional) return undefined;
    throw missingError(signature, args, { name, expected: check?.expected ?? describeExpected(parameter) });
  }
  if (check) return bindStrictly(name, check, received);
  const value = coerce(parameter, received);
  if (value !== MISMATCH) return value;
  const expected = describeExpected(parameter);
  throw argumentError(name, expected, `${name}: expected ${expected}${describeReceived(name, received)}`);
}

function bindFileParameter(signature: Signature, parameter: Parameter, args: Arguments): unknown {
  const { name, optional } = parameter;
  const received = Object.hasOwn(args, name) ? args[name] : undefined;
  if (received === undefined && optional) return undefined;
  const value = bindFiles(parameter, received);
  if (value !== MISMATCH) return value;
  const expected = describeFiles(parameter);
  if (received === undefined) throw missingError(signature, args, { name, expected });
  throw argumentError(name, expected, `${name}: expected ${expected}${fileAdvice(parameter, received)}`);
}

/** Returns the error of a missing argument, with an example of the call: `age is missing: sign(name, age).` */
function missingError(
  { name: fn, params, keyed }: Signature,
  args: Arguments,
  { name, expected }: { readonly name: string; readonly expected: string },
): RPCError {
  const list = params.map((parameter) => `${parameter.name}${parameter.optional ? "?" : ""}`).join(", ");
  const form = keyed ? `${fn}({ ${list} })` : `${fn}(${list})`;
  const object = Object.keys(args).find((other) => hasMember(args[other], name));
  const advice = object
    ? ` ${object} is an object with a member ${name}: pass its members one by one, or call ${fn}.named({ … }).`
    : "";
  return argumentError(name, expected, `${name} is missing: ${form}.${advice}`);
}

function hasMember(value: unknown, name: string): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name);
}

function bindStrictly(name: string, { expected, check }: ParameterCheck, argument: unknown): unknown {
  const mismatch: TypeMismatch = { expected, received: argument, path: [] };
  const value = check(argument, mismatch);
  if (value !== MISMATCH) return value;
  const path = valuePath(name, mismatch.path.reverse());
  const { received } = mismatch;
  const reason =
    received === undefined
      ? `${mismatch.expected} is required`
      : `expected ${mismatch.expected}${describeReceived(path, received)}`;
  throw argumentError(name, mismatch.expected, `${path}: ${reason}`, path);
}

function rejectUnknownNames({ name, params }: Signature, args: Arguments): void {
  for (const key in args) {
    if (params.some((parameter) => parameter.name === key)) continue;
    const valid = params.length === 0 ? "no parameters" : params.map((parameter) => parameter.name).join(", ");
    const parameter = key.slice(0, MAX_NAME_LENGTH);
    throw argumentError(
      parameter,
      "nothing",
      `${name} has no parameter ${JSON.stringify(parameter)}; it takes ${valid}`,
    );
  }
}

/** @param path the path of the invalid value inside the parameter, if it is not the whole parameter */
function argumentError(parameter: string, expected: string, message: string, path = parameter): RPCError {
  const details = path === parameter ? {} : { path };
  return new RPCError("validation_error", message, { parameter, expected, ...details });
}

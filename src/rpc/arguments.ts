import { adviseMaxBody, MAX_BODY_BYTES } from "../bodies/index.ts";
import { RPCError } from "../errors.ts";
import { parseJson, type RequestContext } from "../http/index.ts";
import { type Arguments, isBlob, type Parameter, type Signature, takesFiles } from "../protocol/index.ts";
import { coerce, describeExpected, MISMATCH } from "./coerce.ts";
import type { FunctionDefinition } from "./server.ts";
import type { ParameterCheck, ParameterChecks, TypeMismatch } from "./strict-checks.ts";
import { describeReceived, valuePath } from "./validate.ts";

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

/** Returns the type of a parameter that takes files, as errors name it. */
function describeFiles({ files, nullable }: Parameter): string {
  return `${files === "many" ? "array of files" : "file"}${nullable ? " or null" : ""}`;
}

/**
 * Returns the value of a parameter that takes files, or {@link MISMATCH}. Nothing but an uploaded file is accepted, in
 * every application: the function must not mistake an object of the caller for a file.
 */
function bindFiles({ files, nullable }: Parameter, value: unknown): unknown {
  if (value === null) return nullable ? null : MISMATCH;
  if (files === "one") return isBlob(value) ? value : MISMATCH;
  return Array.isArray(value) && value.every(isBlob) ? value : MISMATCH;
}

/** Returns how to pass a file, for a text that was passed in its place: its name, or the value of a file field. */
function fileAdvice({ files }: Parameter, received: unknown): string {
  if (typeof received !== "string") return "";
  return `, got a text: pass ${files === "many" ? "[...input.files]" : "input.files[0]"} of the file field`;
}

/** The maximum depth to which arguments may nest, in levels. */
export const MAX_DEPTH = 64;

/**
 * Returns the arguments of a call, read from its body.
 *
 * A key named `__proto__` is rejected, because application code that copies keys would set a prototype with it
 * (prototype pollution).
 *
 * @throws RPCError `validation_error` if the body is not JSON, has no `args` object, nests deeper than
 *   {@link MAX_DEPTH}, or has a key named `__proto__`
 * @see docs/protocol.md 3.1
 */
export function readArguments(text: string): Readonly<Record<string, unknown>> {
  const body = parse(text);
  if (!isRecord(body) || !isRecord(body.args)) {
    throw new RPCError("validation_error", 'The body must be an object with an "args" object: {"args": {…}}.');
  }
  checkNesting(body.args, 1);
  return body.args;
}

/**
 * Returns the arguments of a call with files, read from its field of arguments.
 *
 * @throws RPCError `validation_error` as {@link readArguments}
 * @see docs/protocol.md 15.7
 */
export function readArgumentsField(text: string): Readonly<Record<string, unknown>> {
  const args = parse(text);
  if (!isRecord(args)) throw new RPCError("validation_error", "The field __args must be a JSON object of arguments.");
  checkNesting(args, 1);
  return args;
}

function parse(text: string): unknown {
  try {
    // Some hosts remove a byte order mark and others do not. @see RFC 8259, section 8.1
    return parseJson(text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch (error) {
    throw error instanceof RangeError ? nestingError() : new RPCError("validation_error", "The body is not JSON.");
  }
}

function nestingError(): RPCError {
  return new RPCError("validation_error", `The arguments nest deeper than ${MAX_DEPTH} levels.`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkNesting(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > MAX_DEPTH) throw nestingError();
  if (Array.isArray(value)) {
    for (const item of value) checkNesting(item, depth + 1);
    return;
  }
  const fields = value as Readonly<Record<string, unknown>>; // an object of JSON, whose keys are its own
  for (const key in fields) {
    if (key === "__proto__") throw new RPCError("validation_error", "A key named __proto__ is not allowed.");
    checkNesting(fields[key], depth + 1);
  }
}

/**
 * Returns the maximum size of a form or a call with files, in bytes.
 *
 * @param fallback the maximum of the application, if it has one
 */
export function maxFormBody({ options }: FunctionDefinition, fallback?: number): number {
  return options.max_body ?? fallback ?? MAX_BODY_BYTES;
}

/**
 * Returns the maximum size of a call's JSON, in bytes. It is held in memory: the maximum of a function that takes files is
 * meant for the files, and does not raise it.
 *
 * @param fallback the maximum of the application, if it has one
 */
export function maxCallBody(definition: FunctionDefinition, fallback?: number): number {
  const max = maxFormBody(definition, fallback);
  return takesFiles(definition.signature) ? Math.min(max, MAX_BODY_BYTES) : max;
}

/**
 * Adds to the error for a body over the maximum of a function, in development, how to raise it. Other errors stay as they
 * are, and so do those about a body that the option does not raise: the JSON of a call with files, the texts of a form.
 *
 * @param kind whether the body is the JSON of a call or a form
 * @param fallback the maximum of the application, if it has one
 */
export function adviseOfMaxBody(
  error: unknown,
  context: RequestContext,
  definition: FunctionDefinition,
  { kind, fallback }: { readonly kind: "call" | "form"; readonly fallback: number | undefined },
): void {
  if (takesFiles(definition.signature) !== (kind === "form")) return;
  adviseMaxBody(error, context, { name: definition.signature.name, maxBytes: maxFormBody(definition, fallback) });
}

/**
 * The check of a call's arguments before they are sent. Used by the client, and by stubs in development.
 *
 * @see docs/protocol.md 3.8
 */
import { RPCError } from "../errors.ts";
import type { Arguments } from "./call.ts";
import { isBlob } from "./form.ts";
import { describeUnsendableObject, isEvent, tagOf, type Unsendable } from "./sent-values.ts";

/** Deeper values are refused by the server (docs/protocol.md 3.2). */
const MAX_DEPTH = 64;

/**
 * Throws for a number of arguments that the function does not take. The message shows how to call it.
 *
 * @param params the names of the positional parameters; `undefined` if the function takes one object of its parameters
 * @throws RPCError `validation_error`
 */
export function checkArgumentCount(
  name: string,
  params: readonly string[] | undefined,
  values: readonly unknown[],
): void {
  if (params ? values.length <= params.length : isOneObject(values)) return;
  const event = values.find(isEvent);
  const takes = params
    ? params.length === 0
      ? "takes no arguments"
      : `takes at most ${params.length}: ${name}(${params.join(", ")})`
    : `takes one object of named arguments: ${name}({ … })`;
  const received = event
    ? "received an event"
    : values.length === 1
      ? `received ${describeOne(values[0])}`
      : `received ${values.length} arguments`;
  throw new RPCError("validation_error", `${name} ${received}, but ${takes}. ${callAdvice(name, params, values)}`);
}

function isOneObject(values: readonly unknown[]): boolean {
  const [value] = values;
  if (values.length > 1) return false;
  return value === undefined || (typeof value === "object" && !Array.isArray(value) && !isEvent(value));
}

function describeOne(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function callAdvice(name: string, params: readonly string[] | undefined, values: readonly unknown[]): string {
  const call = params ? `${name}(${params.join(", ")})` : `${name}({ … })`;
  if (values.some(isEvent)) return `An event handler receives the event as its argument. Write () => ${call}.`;
  const [, index, array] = values;
  if (params?.length && typeof index === "number" && Array.isArray(array)) {
    return `Array methods such as map pass the index and the array, too. Write (${params[0]}) => ${name}(${params[0]}).`;
  }
  return `Write ${call}.`;
}

/**
 * Throws for arguments that would not arrive as they are: for example, a `Set` would arrive as `{}`.
 *
 * @param canSendFiles whether the call is sent as a form if an argument is a file, or an array of files
 * @throws TypeError that names the function, the path of the value, and the fix
 */
export function checkArguments(name: string, args: Arguments, canSendFiles: boolean): void {
  // The caller has created the object of named arguments: it may be any object. What its `toJSON` returns is sent.
  if (hasToJson(args)) return;
  const whole = describeUnsendableObject(args, { fn: name, member: "values" });
  if (whole) throw new TypeError(`${name}: ${whole.what} cannot be sent. ${whole.fix}`);
  for (const [parameter, value] of Object.entries(args)) {
    if (canSendFiles && isFileArgument(value)) continue;
    checkValue(value, { fn: name, path: parameter, member: parameter, ancestors: [] });
  }
}

function isFileArgument(value: unknown): boolean {
  return isBlob(value) || (Array.isArray(value) && value.length > 0 && value.every(isBlob));
}

interface ValueLocation {
  readonly fn: string;
  /** The path of the value: `guest.tags[0]`. */
  readonly path: string;
  /** The innermost name in the path. */
  readonly member: string;
  /** The objects that contain the value: one of them inside itself is a cycle. */
  readonly ancestors: readonly object[];
}

function checkValue(value: unknown, location: ValueLocation): void {
  if (typeof value !== "object" || value === null) {
    checkScalar(value, location);
    return;
  }
  if (location.ancestors.length > MAX_DEPTH) return;
  const problem = isBoxed(value) ? undefined : describeObject(value, location);
  if (problem) throw unsendableError(problem, location);
  if (hasToJson(value) || isBoxed(value)) return;
  const ancestors = [...location.ancestors, value];
  if (Array.isArray(value)) {
    value.forEach((item: unknown, index) => {
      checkValue(item, { ...location, path: `${location.path}[${index}]`, ancestors });
    });
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    // JSON omits them, as of an object that has methods.
    if (typeof member === "function" || typeof member === "symbol") continue;
    checkValue(member, { fn: location.fn, ...memberLocation(location.path, key), ancestors });
  }
}

function describeObject(value: object, { fn, member, ancestors }: ValueLocation): Unsendable | undefined {
  if (ancestors.includes(value)) {
    return { what: "an object that contains itself", fix: "Pass only the fields that the function needs." };
  }
  if (value instanceof Date && Number.isNaN(value.getTime())) {
    return { what: "an invalid Date", fix: "Check the text from which it was created." };
  }
  return hasToJson(value) || Array.isArray(value) ? undefined : describeUnsendableObject(value, { fn, member });
}

function checkScalar(value: unknown, location: ValueLocation): void {
  const { member } = location;
  switch (typeof value) {
    case "number":
      if (Number.isFinite(value)) return;
      throw unsendableError({ what: String(value), fix: "Check the number first, or pass null." }, location);
    case "bigint":
      if (hasToJson(value)) return; // some applications define BigInt.prototype.toJSON
      throw unsendableError({ what: "a bigint", fix: `Pass a string: String(${member}).` }, location);
    case "function":
      throw unsendableError({ what: "a function", fix: "Call it first and pass its result, or pass data." }, location);
    case "symbol":
      throw unsendableError({ what: "a symbol", fix: "Pass a string." }, location);
    default:
      return;
  }
}

function hasToJson(value: object | bigint): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === "function"; // any value can be read like this
}

/** Returns whether an object is a wrapper of a primitive, also of another realm. It is sent as the primitive. */
function isBoxed(value: object): boolean {
  return ["Number", "String", "Boolean"].includes(tagOf(value));
}

function memberLocation(path: string, key: string): Pick<ValueLocation, "path" | "member"> {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key)
    ? { path: `${path}.${key}`, member: key }
    : { path: `${path}[${JSON.stringify(key)}]`, member: "value" };
}

function unsendableError({ what, fix }: Unsendable, { fn, path }: ValueLocation): TypeError {
  return new TypeError(`${fn}: ${path}: ${what} cannot be sent. ${fix}`);
}

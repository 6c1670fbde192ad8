import { hasInheritedMembers, tagOf } from "./sent-values.ts";

/** How a value is serialised. */
export interface SerializeOptions {
  /**
   * Whether functions, symbols and markup are errors instead of being omitted: the props of a view must be complete.
   */
  readonly strict?: boolean;
  /** What the value belongs to, such as a function and its location, for the message of the error. */
  readonly subject?: string;
}

/** Thrown for a value that cannot be serialised. */
export class SerializeError extends Error {
  /** The path of the part that cannot be serialised: `items[2].price`; empty for the whole value. */
  readonly path: string;

  constructor(path: string, reason: string, subject?: string) {
    super(`${subject ? `${subject}: ` : ""}${path || "the value"} cannot be sent: ${reason}`);
    this.path = path;
  }

  override get name(): string {
    return "SerializeError";
  }
}

/** `undefined` in some runtimes. */
const SharedBuffer = globalThis.SharedArrayBuffer as typeof SharedArrayBuffer | undefined; // the global type does not include undefined

/** The maximum depth of a value, in levels. Deeper values are assumed to be infinite (a getter that returns itself). */
const MAX_DEPTH = 500;

/**
 * Returns a value as JSON. Results, stream chunks, props and messages are all serialised by this function. It runs on
 * the server only.
 *
 * `Date` and `Temporal` become ISO 8601, `bigint` and decimal classes a string, `Map` an object, `Set` an array, bytes
 * base64, `NaN` and infinities `null`, `undefined` as the whole value `null`. An object's `to_dict()` takes precedence
 * over its `toJSON()`. All other objects are sent with their own enumerable fields, TypeScript's `private` fields
 * included (`#name` fields are not).
 *
 * @throws SerializeError for a cycle, a promise (await it), a stream, an iterator, an object that would arrive as `{}`
 *   although it has content (a `Response`, a `FormData`, an instance with private fields only), or with `strict` a function or markup
 * @see docs/protocol.md 5.1
 */
export function toJson(value: unknown, options: SerializeOptions = {}): string {
  const strict = options.strict === true;
  // JSON.stringify is the fastest, and serialises most values correctly without conversion.
  const plain = isPlain(value, strict, 0) ? value : convertWhole(value, { ...options, strict });
  return JSON.stringify(plain) ?? "null";
}

/** Converts a value. The stack of a `SerializeError` begins at the caller of `toJson`: the conversion would fill it. */
function convertWhole(value: unknown, { strict, subject }: SerializeOptions): Json {
  try {
    return convert(value, { strict: strict === true, subject, ancestors: [], path: "" });
  } catch (error) {
    if (error instanceof SerializeError) Error.captureStackTrace?.(error, toJson);
    throw error;
  }
}

function isPlain(value: unknown, strict: boolean, depth: number): boolean {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
    case "undefined":
      return true;
    case "function":
    case "symbol":
      return !strict;
    case "bigint":
      return false;
    case "object":
      break;
  }
  if (value === null) return true;
  if (depth > 64) return false;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return false;
  const fields = value as Record<string | symbol, unknown>; // an object or an array: its prototype was checked
  if (isFunction(fields.to_dict) || isFunction(fields.toJSON) || isFunction(fields.then)) return false;
  if (isFunction(fields.next) || isFunction(fields[Symbol.asyncIterator])) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlain(item, strict, depth + 1)) return false;
    return true;
  }
  if (strict && isMarkup(value)) return false;
  for (const key in fields) if (!isPlain(fields[key], strict, depth + 1)) return false;
  return true;
}

function isFunction(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === "function";
}

/** Returns whether an object is a JSX element. Parsed JSON cannot imitate one: its `constructor` would have to be a symbol. */
function isMarkup(value: object): boolean {
  return typeof value.constructor === "symbol";
}

interface ConversionState {
  readonly strict: boolean;
  readonly subject: string | undefined;
  /** The objects that contain the current value: one of them inside itself is a cycle. */
  readonly ancestors: object[];
  path: string;
}

function errorAt({ path, subject }: Pick<ConversionState, "path" | "subject">, reason: string): SerializeError {
  return new SerializeError(path, reason, subject);
}

type Json = string | number | boolean | null | undefined | Json[] | { [key: string]: Json };

function describeFunction(value: object | symbol): string {
  if ("live" in Object(value)) return "it is a query; call it, or its `live`, and await the result.";
  return `a ${typeof value} cannot be sent as JSON.`;
}

function convert(value: unknown, state: ConversionState): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return value;
    case "number":
      return Number.isFinite(value) ? value : null;
    case "bigint":
      return value.toString();
    case "function":
    case "symbol":
      if (state.strict) throw errorAt(state, describeFunction(value));
      return undefined;
    case "object":
      return value === null ? null : convertObject(value, state);
  }
}

function convertObject(value: object, state: ConversionState): Json {
  if (state.ancestors.includes(value)) throw errorAt(state, "it contains itself.");
  if (state.ancestors.length > MAX_DEPTH) throw errorAt(state, `it nests deeper than ${MAX_DEPTH}.`);
  state.ancestors.push(value);
  const json = convertMembers(value, state);
  state.ancestors.pop();
  return json;
}

function convertMembers(value: object, state: ConversionState): Json {
  const methods = value as Record<"to_dict" | "toJSON" | "then" | "next" | symbol, unknown>; // checked with isFunction before each call
  if (isFunction(methods.to_dict)) return convert(methods.to_dict(), state);
  if (value instanceof Uint8Array || value instanceof DataView) return base64(value);
  if (value instanceof ArrayBuffer || (SharedBuffer && value instanceof SharedBuffer))
    return base64(new Uint8Array(value));
  if (isFunction(methods.toJSON)) return convert(methods.toJSON(""), state);
  if (isFunction(methods.then)) throw errorAt(state, "it is a promise; await it first.");
  if (isFunction(methods[Symbol.asyncIterator]))
    throw errorAt(state, "it is a stream; yield its values, in a function*.");
  // An iterator has no own fields. It is an error, because as `{}` it would silently lose its values.
  if (isFunction(methods.next) && isFunction(methods[Symbol.iterator]))
    throw errorAt(state, "it is an iterator; make an array of it, or yield its values, in a function*.");
  if (state.strict && isMarkup(value)) throw errorAt(state, "markup cannot be sent as JSON.");
  if (value instanceof Map) return convertEntries(value, state);
  if (value instanceof Set || Array.isArray(value)) return convertItems(value, state);
  if (ArrayBuffer.isView(value)) {
    return convertItems(value as unknown as Iterable<unknown>, state); // every other view is a typed array
  }
  if (isBoxed(value)) return convert(value.valueOf(), state);
  if (isDecimal(value)) return value.toString();
  const problem = describeLostResult(value);
  if (problem) throw errorAt(state, problem);
  return convertEntries(Object.entries(value), state);
}

function convertItems(items: Iterable<unknown>, state: ConversionState): Json[] {
  const { path } = state;
  const json: Json[] = [];
  for (const item of items) {
    state.path = `${path}[${json.length}]`;
    json.push(convert(item, state));
  }
  state.path = path;
  return json;
}

function convertEntries(entries: Iterable<readonly [unknown, unknown]>, state: ConversionState): Json {
  const { path } = state;
  // Without a prototype, so that a key named __proto__ is an ordinary key.
  const json: { [key: string]: Json } = Object.create(null);
  for (const [key, item] of entries) {
    if ((typeof key === "object" && key !== null) || typeof key === "function" || typeof key === "symbol") {
      throw errorAt({ ...state, path }, `it has a key of type ${typeof key}; keys must be strings.`);
    }
    const name = String(key);
    state.path = path === "" ? name : `${path}.${name}`;
    const field = convert(item, state);
    if (field !== undefined) json[name] = field;
  }
  state.path = path;
  return json;
}

/** Returns whether an object is of a decimal class without `toJSON`: these classes share the methods checked here. */
function isDecimal(value: object): boolean {
  const members = value as { toFixed?: unknown; plus?: unknown; add?: unknown }; // only their types are read
  return (
    typeof members.toFixed === "function" && (typeof members.plus === "function" || typeof members.add === "function")
  );
}

function isBoxed(value: object): boolean {
  return value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt;
}

function base64(bytes: ArrayBufferView): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** How to send the content of built-in classes, by their tag. */
const FIXES: Readonly<Record<string, string>> = {
  Response: "it is a Response. Return its data, or return the Response from a route().",
  Request: "it is a Request. Return the data of it that the caller needs.",
  Blob: "it is a Blob. Return it from a route(), as a Response or with send_file().",
  File: "it is a File. Return it from a route(), as a Response or with send_file().",
  FormData: "it is a FormData. Return an object: Object.fromEntries(form).",
  URLSearchParams: "it is a URLSearchParams. Return an object, Object.fromEntries(params), or String(params).",
  Headers: "it is a Headers object. Return an object: Object.fromEntries(headers).",
  RegExp: "it is a regular expression. Return its text: pattern.source.",
};

/**
 * Returns why an object would arrive as `{}`, and what to return in its place; `undefined` for any other. An `Error` is
 * sent as `{}` on purpose: its message is not for the caller.
 *
 * @see docs/protocol.md 5.1
 */
function describeLostResult(value: object): string | undefined {
  if (Object.keys(value).length > 0 || value instanceof Error || !hasInheritedMembers(value)) return undefined;
  const fix = FIXES[tagOf(value)];
  if (fix) return fix;
  const name = typeof value.constructor === "function" && value.constructor.name;
  return (
    `it is an instance of ${name || "a class"} that has no fields: private fields and getters are not sent. ` +
    "Return a plain object, or give the class a method to_dict()."
  );
}

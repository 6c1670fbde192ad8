import type { Serialized, SerializedResult } from "./serialized.ts";

/** How a value is written. */
export interface SerializeOptions {
  /**
   * Refuse functions, symbols and markup rather than leave them out: what a view is given must arrive.
   */
  readonly strict?: boolean;
}

/** A value that cannot be written as JSON; `path` says which part of it. */
export class SerializeError extends Error {
  readonly path: string;

  constructor(path: string, reason: string) {
    super(`${path || "the value"} cannot be sent: ${reason}`);
    this.path = path;
  }

  override get name(): string {
    return "SerializeError";
  }
}

/** Some runtimes have none. */
const Shared = globalThis.SharedArrayBuffer as typeof SharedArrayBuffer | undefined; // typed as if all had one

/** How deep a value may nest before it is taken for one without end. */
const MAX_DEPTH = 500;

/**
 * Writes a value as JSON: the one serialiser of results, chunks, props and messages.
 *
 * `Date` and `Temporal` become ISO 8601, `bigint` and decimal classes a string, `Map` an object,
 * `Set` an array, bytes base64, `NaN` and the infinities `null`, `undefined` at the top `null`. An
 * object's `to_dict()` is asked first, then its `toJSON()`; any other object gives its own
 * enumerable fields, TypeScript's `private` ones too (`#name` ones not).
 *
 * @throws SerializeError for a cycle, a promise (await it), a stream, an iterator, or with `strict` a function or markup
 * @see the interface, "Return value"
 */
export function toJson(value: unknown, options: SerializeOptions = {}): string {
  const strict = options.strict === true;
  // Most values are what JSON.stringify writes rightly by itself, and it is the fastest at it.
  const ready = isPlain(value, strict, 0) ? value : convert(value, { strict, ancestors: [], path: "" });
  return JSON.stringify(ready) ?? "null";
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
  const fields = value as Record<string | symbol, unknown>; // an object or an array, with a plain prototype
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

/** An element as JSX makes it has a field that no JSON can give it, which is how the renderer knows it too. */
function isMarkup(value: object): boolean {
  return typeof value.constructor === "symbol";
}

interface Walk {
  readonly strict: boolean;
  /** The objects we are inside of: meeting one again is a cycle. */
  readonly ancestors: object[];
  path: string;
}

type Json = string | number | boolean | null | undefined | Json[] | { [key: string]: Json };

function convert(value: unknown, walk: Walk): Json {
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
      if (walk.strict) throw new SerializeError(walk.path, `a ${typeof value} does not travel as JSON.`);
      return undefined;
    case "object":
      return value === null ? null : convertObject(value, walk);
  }
}

function convertObject(value: object, walk: Walk): Json {
  if (walk.ancestors.includes(value)) throw new SerializeError(walk.path, "it contains itself.");
  if (walk.ancestors.length > MAX_DEPTH) throw new SerializeError(walk.path, `it nests deeper than ${MAX_DEPTH}.`);
  walk.ancestors.push(value);
  const json = convertMembers(value, walk);
  walk.ancestors.pop();
  return json;
}

function convertMembers(value: object, walk: Walk): Json {
  const methods = value as Record<"to_dict" | "toJSON" | "then" | "next" | symbol, unknown>; // looked at, then called
  if (isFunction(methods.to_dict)) return convert(methods.to_dict(), walk);
  if (value instanceof Uint8Array || value instanceof DataView) return base64(value);
  if (value instanceof ArrayBuffer || (Shared && value instanceof Shared)) return base64(new Uint8Array(value));
  if (isFunction(methods.toJSON)) return convert(methods.toJSON(""), walk);
  if (isFunction(methods.then)) throw new SerializeError(walk.path, "it is a promise; await it first.");
  if (isFunction(methods[Symbol.asyncIterator]))
    throw new SerializeError(walk.path, "it is a stream; yield its values, in a function*.");
  // As an object it has nothing in it: what it would give must not be lost without a word.
  if (isFunction(methods.next) && isFunction(methods[Symbol.iterator]))
    throw new SerializeError(walk.path, "it is an iterator; make an array of it, or yield its values, in a function*.");
  if (walk.strict && isMarkup(value)) throw new SerializeError(walk.path, "markup does not travel as JSON.");
  if (value instanceof Map) return convertEntries(value, walk);
  if (value instanceof Set || Array.isArray(value)) return convertItems(value, walk);
  if (ArrayBuffer.isView(value)) {
    return convertItems(value as unknown as Iterable<unknown>, walk); // every other view is a typed array
  }
  if (isBoxed(value)) return convert(value.valueOf(), walk);
  if (isDecimal(value)) return value.toString();
  return convertEntries(Object.entries(value), walk);
}

function convertItems(items: Iterable<unknown>, walk: Walk): Json[] {
  const { path } = walk;
  const json: Json[] = [];
  for (const item of items) {
    walk.path = `${path}[${json.length}]`;
    json.push(convert(item, walk));
  }
  walk.path = path;
  return json;
}

function convertEntries(entries: Iterable<readonly [unknown, unknown]>, walk: Walk): Json {
  const { path } = walk;
  // Without a prototype: a key named __proto__ is a key like any other.
  const json: { [key: string]: Json } = Object.create(null);
  for (const [key, item] of entries) {
    if ((typeof key === "object" && key !== null) || typeof key === "function" || typeof key === "symbol") {
      throw new SerializeError(path, `a key of it is no text but of type ${typeof key}.`);
    }
    const name = String(key);
    walk.path = path === "" ? name : `${path}.${name}`;
    const field = convert(item, walk);
    if (field !== undefined) json[name] = field;
  }
  walk.path = path;
  return json;
}

/** Decimal classes without a `toJSON` of their own: known by what all of them have. */
function isDecimal(value: object): boolean {
  const members = value as { toFixed?: unknown; plus?: unknown; add?: unknown }; // looked at only
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

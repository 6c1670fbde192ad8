import type { Serialized, SerializedResult } from "./serialized.ts";

export type { Serialized, SerializedResult };

/** How a value is written. */
export interface SerializeOptions {
  /**
   * Refuse functions and symbols rather than leave them out: what a view is given must arrive.
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

/** How deep a value may nest before it is taken for one without end. */
const MAX_DEPTH = 500;

/**
 * Writes a value as JSON: the one serialiser of results, chunks, props and messages.
 *
 * `Date` and `Temporal` become ISO 8601, `bigint` and decimal classes a string, `Map` an object,
 * `Set` an array, bytes base64, `NaN` and the infinities `null`, `undefined` at the top `null`. An
 * object's `to_dict()` is asked first, then its `toJSON()`; any other object gives its own
 * enumerable fields.
 *
 * @throws SerializeError for a cycle, a promise (await it), or with `strict` a function
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
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlain(item, strict, depth + 1)) return false;
    return true;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  const fields = value as Record<string, unknown>; // an object with a plain prototype
  if (typeof fields.to_dict === "function" || typeof fields.toJSON === "function") return false;
  for (const key in fields) if (!isPlain(fields[key], strict, depth + 1)) return false;
  return true;
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
  const methods = value as { to_dict?: unknown; toJSON?: unknown; then?: unknown }; // looked at, then called
  if (typeof methods.to_dict === "function") return convert(methods.to_dict(), walk);
  if (value instanceof Uint8Array) return base64(value);
  if (value instanceof ArrayBuffer) return base64(new Uint8Array(value));
  if (typeof methods.toJSON === "function") return convert(methods.toJSON(""), walk);
  if (typeof methods.then === "function") throw new SerializeError(walk.path, "it is a promise; await it first.");
  if (value instanceof Map) return convertEntries(value, walk);
  if (value instanceof Set || Array.isArray(value)) return convertItems(value, walk);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return convertItems(value as unknown as Iterable<unknown>, walk); // every other view is a typed array
  }
  if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    return convert(value.valueOf(), walk);
  }
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
    walk.path = path === "" ? String(key) : `${path}.${String(key)}`;
    const field = convert(item, walk);
    if (field !== undefined) json[String(key)] = field;
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

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

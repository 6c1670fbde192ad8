/**
 * Recognizes the objects of the Fetch standard by their methods.
 *
 * `instanceof` is not used for them: packages replace the global classes (`@hono/node-server` replaces
 * `globalThis.Response`), and the objects of `fetch`, of undici and of other realms are then not instances of the
 * replacement.
 */

/** Returns whether a value is a Fetch `Response`, of any implementation. */
export function isResponse(value: unknown): value is Response {
  return hasMethod(value, "arrayBuffer") && "status" in value;
}

/** Returns whether a value is a `ReadableStream` of the Streams standard, of any implementation. */
export function isReadableStream(value: unknown): value is ReadableStream<Uint8Array> {
  return hasMethod(value, "getReader");
}

/** Reads no getter: those of a lazy `Response` may create the headers and the body. */
function hasMethod(value: unknown, name: string): value is object {
  if (typeof value !== "object" || value === null || !(name in value)) return false;
  return typeof Reflect.get(value, name) === "function";
}

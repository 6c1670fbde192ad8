/**
 * The body of a call with files. Used by the browser, the client and the server.
 *
 * @see docs/protocol.md 15.7
 */
import type { Arguments } from "./call.ts";

/**
 * The field of a call with files that carries all other arguments: a JSON object, by the name of the parameter. The
 * files follow it, each in the field of its parameter.
 */
export const ARGUMENTS_FIELD = "__args";

/**
 * Returns whether a value is a `Blob` or a `File`, of any implementation: packages replace the global classes, so that
 * `instanceof` would not recognize all of them.
 */
export function isBlob(value: unknown): value is Blob {
  const { arrayBuffer, slice } = (value ?? {}) as Partial<Blob>; // any value can be read like this
  return typeof arrayBuffer === "function" && typeof slice === "function";
}

/** Returns the body of a call whose arguments contain files; `null` if they contain none. */
export function toFormData(args: Arguments): FormData | null {
  const form = new FormData();
  const others: Record<string, unknown> = {};
  const files: (readonly [name: string, file: Blob])[] = [];
  for (const [name, value] of Object.entries(args)) {
    const list: readonly unknown[] = Array.isArray(value) && value.length > 0 ? value : [value];
    if (list.every(isBlob)) for (const file of list) files.push([name, file]);
    else others[name] = value;
  }
  form.append(ARGUMENTS_FIELD, JSON.stringify(others));
  for (const [name, file] of files) form.append(name, file);
  return files.length > 0 ? form : null;
}

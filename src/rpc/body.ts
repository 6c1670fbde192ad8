import { RPCError } from "../errors.ts";

/** How deep arguments may nest. */
export const MAX_DEPTH = 64;

/**
 * Reads the arguments of a call from its body.
 *
 * @throws RPCError `validation_error` when the body is not JSON, not an object, has no `args`
 *   object, nests deeper than {@link MAX_DEPTH}, or has a key named `__proto__`, which careless code
 *   would copy onto a prototype
 */
export function readArguments(text: string): Readonly<Record<string, unknown>> {
  const body = parse(text);
  if (!isRecord(body) || !isRecord(body.args)) {
    throw new RPCError("validation_error", 'The body must be an object with an "args" object: {"args": {…}}.');
  }
  checkTree(body.args, 1);
  return body.args;
}

function parse(text: string): unknown {
  try {
    // A byte order mark is taken away by some hosts and not by others. @see RFC 8259, section 8.1
    return JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch {
    throw new RPCError("validation_error", "The body is not JSON.");
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkTree(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > MAX_DEPTH) throw new RPCError("validation_error", `The arguments nest deeper than ${MAX_DEPTH}.`);
  if (Array.isArray(value)) {
    for (const item of value) checkTree(item, depth + 1);
    return;
  }
  for (const key of Object.keys(value)) {
    if (key === "__proto__") throw new RPCError("validation_error", "A key named __proto__ is not taken.");
    checkTree(Reflect.get(value, key), depth + 1);
  }
}

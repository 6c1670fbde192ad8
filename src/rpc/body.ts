import { RPCError } from "../errors.ts";
import { parseJson } from "../http/index.ts";

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

import { types } from "node:util";

/**
 * Throws unless a value is a `Uint8Array`. An object that only has its prototype, or a proxy of one, is refused.
 *
 * @param parameter the function and the parameter, for the message: `cose_to_raw_point: the key`
 * @throws TypeError that names the parameter and the received type
 */
export function requireBytes(value: unknown, parameter: string): asserts value is Uint8Array {
  if (types.isUint8Array(value)) return;
  throw new TypeError(`${parameter} must be bytes (a Uint8Array). Received: ${describeType(value)}.`);
}

/** Returns the type of a value for an error message. The value itself is never shown: it may be a secret. */
export function describeType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

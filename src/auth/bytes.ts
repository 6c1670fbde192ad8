import { types } from "node:util";

/**
 * Throws unless a value is bytes. What merely looks like it, through its prototype or a proxy, is not.
 *
 * @param what the call and the parameter, for the message
 * @throws TypeError
 */
export function requireBytes(value: unknown, what: string): asserts value is Uint8Array {
  if (!types.isUint8Array(value)) throw new TypeError(`${what} must be bytes (a Uint8Array).`);
}

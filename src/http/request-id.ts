import { randomHex } from "./random.ts";

/**
 * Returns the id of a request: the received id if it is 1 to 128 characters of `[A-Za-z0-9._-]`, otherwise a new id of
 * 32 hexadecimal digits. Other characters are not accepted because they could forge lines of a log.
 *
 * @param received the `X-Request-Id` header, or `null`
 * @see docs/protocol.md 2.3
 */
export function requestId(received: string | null): string {
  return received !== null && /^[A-Za-z0-9._-]{1,128}$/.test(received) ? received : randomHex(16);
}

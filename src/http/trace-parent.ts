import { randomHex } from "./random.ts";

const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Returns the `traceparent` of a response: the trace of the request with a new span id if the received header is valid,
 * otherwise a new trace that is not sampled.
 *
 * @param received the `traceparent` header of the request, or `null`
 * @see docs/protocol.md 2.4
 * @see W3C Trace Context, section 3.2
 */
export function traceParent(received: string | null): string {
  const span = nonZeroHex(8);
  const match = received === null ? null : TRACE_PARENT.exec(received);
  if (!match) return `00-${nonZeroHex(16)}-${span}-00`;
  const [, version = "", trace = "", parent = "", flags = "", rest] = match;
  const isValid = version !== "ff" && !isZero(trace) && !isZero(parent) && (version !== "00" || rest === undefined);
  // The response to a later version has version 00, whose only flag is the lowest bit: "sampled".
  return isValid ? `00-${trace}-${span}-0${Number.parseInt(flags, 16) & 1}` : `00-${nonZeroHex(16)}-${span}-00`;
}

/** Returns the trace id of a `traceparent` that {@link traceParent} has returned: 32 hexadecimal digits. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}

const ZEROS = "0".repeat(32);

/** Returns whether an id is all zeros, which the specification defines as invalid. */
function isZero(hex: string): boolean {
  return ZEROS.startsWith(hex);
}

function nonZeroHex(bytes: number): string {
  for (;;) {
    const hex = randomHex(bytes);
    if (!isZero(hex)) return hex;
  }
}

import { REQUEST_ID_HEADER, TRACEPARENT_HEADER } from "../protocol/index.ts";
import { randomHex } from "./random.ts";

/** The ids of a request, which its response carries. */
export interface RequestIds {
  /** The value of `X-Request-Id`. @see docs/protocol.md 2.3 */
  readonly id: string;
  /** The value of `traceparent`. @see docs/protocol.md 2.4 */
  readonly traceparent: string;
}

/**
 * Returns the ids of a request: those of its headers if they are valid, otherwise new ones.
 *
 * @param header returns a header of the request; `null` if it is missing
 */
export function requestIds(header: (name: string) => string | null): RequestIds {
  return { id: requestId(header(REQUEST_ID_HEADER)), traceparent: traceParent(header(TRACEPARENT_HEADER)) };
}

/** Returns the headers that carry the ids of a request, as names and values. */
export function idHeaders({ id, traceparent }: RequestIds): [name: string, value: string][] {
  return [
    [REQUEST_ID_HEADER, id],
    [TRACEPARENT_HEADER, traceparent],
  ];
}

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

import { randomBytes } from "node:crypto";

/** How many random bytes are asked for at a time, enough for a hundred requests: each asking is a system call. */
const POOL_BYTES = 4096;

/** Random hex digits, to be cut from: cutting a string costs a tenth of writing bytes as one. */
let pool = "";
let used = 0;

function randomHex(bytes: number): string {
  const digits = bytes * 2;
  if (used + digits > pool.length) {
    pool = randomBytes(POOL_BYTES).toString("hex");
    used = 0;
  }
  used += digits;
  return pool.slice(used - digits, used);
}

/**
 * Gives the id of a request: the caller's own when it is 1–128 of `[A-Za-z0-9._-]`, else a new one
 * of 32 hex digits. Anything else could forge lines in a log.
 */
export function requestId(inbound: string | null): string {
  return inbound !== null && /^[A-Za-z0-9._-]{1,128}$/.test(inbound) ? inbound : randomHex(16);
}

/**
 * Gives the `traceparent` of our part of a trace: the caller's trace with a span of our own when
 * what it sent is valid, else a new trace that is not sampled.
 *
 * @see W3C Trace Context, section 3.2
 */
export function traceParent(inbound: string | null): string {
  const span = nonZeroHex(8);
  const match =
    inbound === null ? null : /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(inbound);
  if (!match) return `00-${nonZeroHex(16)}-${span}-00`;
  const [, version = "", trace = "", parent = "", flags = "", rest] = match;
  const valid = version !== "ff" && !isZero(trace) && !isZero(parent) && (version !== "00" || rest === undefined);
  // A later version is answered in ours, with the one flag that ours defines.
  return valid ? `00-${trace}-${span}-0${Number.parseInt(flags, 16) & 1}` : `00-${nonZeroHex(16)}-${span}-00`;
}

function isZero(hex: string): boolean {
  return /^0+$/.test(hex);
}

function nonZeroHex(bytes: number): string {
  for (;;) {
    const hex = randomHex(bytes);
    if (!isZero(hex)) return hex;
  }
}

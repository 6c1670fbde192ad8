import { randomFillSync } from "node:crypto";

/** The number of random bytes requested at once, enough for about 400 requests. Each request is a system call. */
const POOL_BYTES = 16 * 1024;

// The pool lives as long as the process. It is kept as a string: slicing a string costs a tenth of converting bytes.
const poolBytes = Buffer.allocUnsafeSlow(POOL_BYTES);
let pool = "";
let usedDigits = 0;

/** Returns cryptographically random hexadecimal digits, two for each byte. No digit is returned twice. */
export function randomHex(bytes: number): string {
  const digits = bytes * 2;
  if (usedDigits + digits > pool.length) {
    pool = randomFillSync(poolBytes).toString("hex");
    usedDigits = 0;
  }
  usedDigits += digits;
  return pool.slice(usedDigits - digits, usedDigits);
}

import { randomBytes } from "node:crypto";

/** The number of random bytes requested at once, enough for about 100 requests. Each request is a system call. */
const POOL_BYTES = 4096;

// The pool lives as long as the process. It is kept as a string: slicing a string costs a tenth of converting bytes.
let pool = "";
let usedDigits = 0;

/** Returns cryptographically random hexadecimal digits, two for each byte. No digit is returned twice. */
export function randomHex(bytes: number): string {
  const digits = bytes * 2;
  if (usedDigits + digits > pool.length) {
    pool = randomBytes(POOL_BYTES).toString("hex");
    usedDigits = 0;
  }
  usedDigits += digits;
  return pool.slice(usedDigits - digits, usedDigits);
}

import { randomFillSync } from "node:crypto";

/** The number of random bytes requested at once, enough for some 400 requests. Each request of them is a system call. */
const POOL_BYTES = 16 * 1024;

// The pool lives as long as the process. It is kept as a string: slicing a string costs a tenth of converting bytes.
const poolBytes = Buffer.allocUnsafeSlow(POOL_BYTES);
let pool = "";
let usedDigits = 0;

/** Random bytes for {@link fillRandom}. No byte is used twice. */
const unusedBytes = Buffer.allocUnsafeSlow(POOL_BYTES);
let usedBytes = POOL_BYTES;

/** Fills a small array, of at most 16 KiB, with cryptographically random bytes. */
export function fillRandom(target: Uint8Array): void {
  if (usedBytes + target.length > POOL_BYTES) {
    randomFillSync(unusedBytes);
    usedBytes = 0;
  }
  for (let i = 0; i < target.length; i++) target[i] = unusedBytes[usedBytes++] ?? 0; // never above the length, see above
}

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

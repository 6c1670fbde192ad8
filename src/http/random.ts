import { randomFillSync } from "node:crypto";

/** The size of each block of random bytes: enough for about 400 HTTP requests. Filling a block is a system call. */
const POOL_BYTES = 16 * 1024;

// The pool lives as long as the process. It is kept as a string: slicing a string costs a tenth of converting bytes.
const poolBytes = Buffer.allocUnsafeSlow(POOL_BYTES);
let pool = "";
let usedDigits = 0;

/** Random bytes for {@link fillRandom}. No byte is used twice. */
const unusedBytes = Buffer.allocUnsafeSlow(POOL_BYTES);
let usedBytes = POOL_BYTES;

/**
 * Fills an array with cryptographically random bytes.
 *
 * @throws RangeError for more than 16 KiB
 */
export function fillRandom(target: Uint8Array): void {
  checkSize(target.length);
  if (usedBytes + target.length > POOL_BYTES) {
    randomFillSync(unusedBytes);
    usedBytes = 0;
  }
  for (let i = 0; i < target.length; i++) target[i] = unusedBytes[usedBytes++] ?? 0; // the index is below POOL_BYTES
}

/**
 * Returns cryptographically random hexadecimal digits, two for each byte. No digit is returned twice.
 *
 * @throws RangeError for more than 16 KiB
 */
export function randomHex(bytes: number): string {
  checkSize(bytes);
  const digits = bytes * 2;
  if (usedDigits + digits > pool.length) {
    pool = randomFillSync(poolBytes).toString("hex");
    usedDigits = 0;
  }
  usedDigits += digits;
  return pool.slice(usedDigits - digits, usedDigits);
}

/** A larger request would get fewer random bytes than it needs. */
function checkSize(bytes: number): void {
  if (bytes <= POOL_BYTES) return;
  throw new RangeError(`At most ${POOL_BYTES} random bytes can be requested at once. Requested: ${bytes}.`);
}

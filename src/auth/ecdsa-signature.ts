import { NUMBER_BYTES, ORDER, toNumber } from "./p256.ts";

const SEQUENCE = 0x30;
const INTEGER = 0x02;

/** Two integers of 33 bytes at most, each with its tag and length, in a sequence. */
const MAX_DER_BYTES = 2 + 2 * (2 + NUMBER_BYTES + 1);

/**
 * Reads an ECDSA signature over P-256 as browsers send it, and gives r and s as 64 bytes; `null`
 * for anything else.
 *
 * DER writes each signature in one way, and only that way is taken: no length in more bytes than
 * it needs, no leading noughts, no negative number, nothing behind. Both numbers are from 1 to below the
 * order of the curve: with a nought among them, a careless verifier takes any message.
 *
 * @see RFC 3279, section 2.2.3; ITU-T X.690, sections 8.3 and 10.1
 */
export function readSignature(der: Uint8Array): Uint8Array | null {
  // Lengths below 128 take one byte, and no signature here is longer.
  if (der.byteLength > MAX_DER_BYTES || der[0] !== SEQUENCE || der[1] !== der.byteLength - 2) return null;
  const r = readInteger(der.subarray(2));
  const s = r && readInteger(der.subarray(2 + r.size));
  if (!s || 2 + r.size + s.size !== der.byteLength) return null;
  return Buffer.concat([r.number, s.number]);
}

/** An integer, and how many bytes it was written in. */
interface Read {
  readonly number: Uint8Array;
  readonly size: number;
}

function readInteger(bytes: Uint8Array): Read | null {
  const [tag, length = 0, first = 0, second = 0] = bytes;
  if (tag !== INTEGER || length === 0 || bytes.byteLength < 2 + length) return null;
  const isNegative = first >= 0x80;
  const isPadded = length > 1 && first === 0 && second < 0x80;
  if (isNegative || isPadded) return null;
  const digits = bytes.subarray(first === 0 ? 3 : 2, 2 + length);
  const value = toNumber(digits);
  if (value < 1n || value >= ORDER) return null;
  return { number: padStart(digits), size: 2 + length };
}

/** A number below the order has at most 32 digits. */
function padStart(digits: Uint8Array): Uint8Array {
  const number = new Uint8Array(NUMBER_BYTES);
  number.set(digits, NUMBER_BYTES - digits.byteLength);
  return number;
}

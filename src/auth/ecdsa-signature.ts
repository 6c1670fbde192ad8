import { bytesToBigInt, COORDINATE_BYTES, ORDER } from "./p256.ts";

const SEQUENCE = 0x30;
const INTEGER = 0x02;

/** The maximum size: a sequence of two integers of 33 bytes, each with tag and length. */
const MAX_DER_BYTES = 2 + 2 * (2 + COORDINATE_BYTES + 1);

/**
 * Returns r and s of an ECDSA signature over P-256, as 64 bytes: one in DER, as browsers send it, or one that has this form
 * already, as WebCrypto and some libraries of authenticators create it. By chance, about one raw signature in 2^35 is one in DER
 * too: then both are returned. Anything else returns none.
 *
 * @see {@link parseDerSignature}
 */
export function parseSignature(signature: Uint8Array): readonly Uint8Array[] {
  return [parseDerSignature(signature), parseRawSignature(signature)].filter((parsed) => parsed !== null);
}

function parseRawSignature(signature: Uint8Array): Uint8Array | null {
  if (signature.byteLength !== 2 * COORDINATE_BYTES) return null;
  const numbers = [signature.subarray(0, COORDINATE_BYTES), signature.subarray(COORDINATE_BYTES)].map(bytesToBigInt);
  return numbers.every(isInRange) ? signature : null;
}

/** Returns whether a number can be r or s. A verifier that accepts zero would accept a forged signature. */
function isInRange(number: bigint): boolean {
  return number >= 1n && number < ORDER;
}

/**
 * Returns r and s of a DER-encoded ECDSA signature over P-256, as 64 bytes; `null` for anything else.
 *
 * DER has exactly one encoding of each signature, and only that one is accepted: shortest lengths, no leading zeros, no
 * negative numbers, no bytes after it. r and s must be from 1 to the order of the curve minus 1. A verifier that accepts
 * zero would accept a forged signature for every message.
 *
 * @see RFC 3279, section 2.2.3; ITU-T X.690, sections 8.3 and 10.1
 */
export function parseDerSignature(der: Uint8Array): Uint8Array | null {
  // No valid signature is over 127 bytes, so every valid length has one byte.
  if (der.byteLength > MAX_DER_BYTES || der[0] !== SEQUENCE || der[1] !== der.byteLength - 2) return null;
  const r = parseInteger(der.subarray(2));
  const s = r && parseInteger(der.subarray(2 + r.encodedBytes));
  if (!s || 2 + r.encodedBytes + s.encodedBytes !== der.byteLength) return null;
  return Buffer.concat([r.value, s.value]);
}

/** An integer of a signature. */
interface ParsedInteger {
  /** The value in 32 bytes, most significant byte first. */
  readonly value: Uint8Array;
  /** The number of bytes of its encoding, with tag and length. */
  readonly encodedBytes: number;
}

function parseInteger(bytes: Uint8Array): ParsedInteger | null {
  const [tag, length = 0, first = 0, second = 0] = bytes;
  if (tag !== INTEGER || length === 0 || bytes.byteLength < 2 + length) return null;
  const isNegative = first >= 0x80;
  const isPadded = length > 1 && first === 0 && second < 0x80;
  if (isNegative || isPadded) return null;
  const digits = bytes.subarray(first === 0 ? 3 : 2, 2 + length);
  if (!isInRange(bytesToBigInt(digits))) return null;
  return { value: padStart(digits), encodedBytes: 2 + length };
}

/** Returns a number in 32 bytes. A number below the order never has more. */
function padStart(digits: Uint8Array): Uint8Array {
  const padded = new Uint8Array(COORDINATE_BYTES);
  padded.set(digits, COORDINATE_BYTES - digits.byteLength);
  return padded;
}

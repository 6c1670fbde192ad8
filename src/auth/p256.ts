import { verify } from "node:crypto";
import { decodeCBOR } from "@levischuck/tiny-cbor";
import { ValueError } from "../errors.ts";
import { requireBytes } from "./require-bytes.ts";

/** The size of a coordinate, and of each number of a signature, in bytes. */
const COORDINATE_BYTES = 32;

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

/** The prime of the field, and the coefficient b of the curve. @see FIPS 186-4, D.1.2.3; SEC 2, section 2.4.2 */
const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/** The order of the curve. Both numbers of a signature are below it. */
export const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The size of an uncompressed point: `0x04`, x, y. @see SEC 1, section 2.3.3 */
const POINT_BYTES = 1 + 2 * COORDINATE_BYTES;

/** The bytes before the point in the SPKI format of a public key. @see RFC 5480, section 2 */
const SPKI_PREFIX = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex");

/** Returns the number that bytes represent, most significant byte first. */
export function bytesToBigInt(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString("hex") || "0"}`);
}

/**
 * Returns whether bytes are an uncompressed point of P-256.
 *
 * Any other point is on a weaker curve. An attacker could use it to make forged signatures pass (invalid curve attack).
 * The order of P-256 is prime, so there are no small subgroups to check. The point at infinity has no uncompressed form.
 */
export function isCurvePoint(bytes: Uint8Array): boolean {
  if (bytes.byteLength !== POINT_BYTES || bytes[0] !== 0x04) return false;
  const x = bytesToBigInt(bytes.subarray(1, 1 + COORDINATE_BYTES));
  const y = bytesToBigInt(bytes.subarray(1 + COORDINATE_BYTES));
  return x < P && y < P && (y * y - (x * x * x - 3n * x + B)) % P === 0n;
}

/** A message, its signature, and the public key to verify it with. */
export interface SignedMessage {
  /** The public key: 65 bytes, a point of the curve. */
  readonly point: Uint8Array;
  readonly message: Uint8Array;
  /** r and s, 32 bytes each, from 1 to {@link ORDER} − 1. */
  readonly signature: Uint8Array;
}

/** Returns whether an ECDSA signature over P-256 with SHA-256 is valid. */
export type SignatureVerifier = (signed: SignedMessage) => boolean;

/** Verifies with `node:crypto`. Node, Bun, Deno and workerd all support it, and a key in SPKI format. */
export const verifyP256: SignatureVerifier = ({ point, message, signature }) => {
  const key = Buffer.concat([SPKI_PREFIX, point]);
  return verify("sha256", message, { key, format: "der", type: "spki", dsaEncoding: "ieee-p1363" }, signature);
};

/** The labels of a COSE key's members. @see RFC 9052, section 7.1; RFC 9053, section 7.1.1 */
const KTY = 1;
const ALG = 3;
const CRV = -1;
const X = -2;
const Y = -3;

/** The values of a P-256 key for ES256. @see RFC 9053, sections 2.1 and 7.1 */
const EC2 = 2;
const ES256 = -7;
const P256 = 1;

/**
 * Returns the point of a COSE public key, the format in which authenticators register keys. Store it and pass it as
 * `credential_public_key` to {@link verify_webauthn_assertion}.
 *
 * @param cose_key an ES256 key (EC2, P-256, uncompressed) of at most 1,024 bytes, without bytes after it
 * @returns 65 bytes: `0x04`, x, y. The point is always on the curve.
 * @throws TypeError if the key is not a `Uint8Array`
 * @throws ValueError that names the problem, for any other key
 * @see WebAuthn Level 3, section 5.8.5; docs/protocol.md 14.4
 */
export function cose_to_raw_point(cose_key: Uint8Array): Uint8Array {
  requireBytes(cose_key, "cose_to_raw_point: the key");
  const key = decodeCborMap(cose_key);
  if (key === null) throw keyError("it is not one CBOR map");
  if (key.get(KTY) !== EC2) throw keyError("its type (kty) is not EC2");
  if (key.get(ALG) !== ES256) throw keyError("its algorithm (alg) is not ES256");
  if (key.get(CRV) !== P256) throw keyError("its curve (crv) is not P-256");
  const point = Uint8Array.from([0x04, ...readCoordinate(key, X), ...readCoordinate(key, Y)]);
  if (!isCurvePoint(point)) throw keyError("its point is not on the curve");
  return point;
}

function readCoordinate(key: Map<unknown, unknown>, label: typeof X | typeof Y): Uint8Array {
  const value = key.get(label);
  if (!(value instanceof Uint8Array) || value.byteLength !== COORDINATE_BYTES) {
    throw keyError(`its ${label === X ? "x" : "y"} is not 32 bytes`);
  }
  return value;
}

function keyError(problem: string): ValueError {
  return new ValueError(`The COSE key cannot be used: ${problem}.`);
}

/** The maximum size of a CBOR map, in bytes. A COSE key has 77 bytes, and few more with optional members. */
const MAX_BYTES = 1024;

/**
 * Returns the CBOR map that `bytes` contain exactly; `null` for anything else, also for a map that is followed by more
 * bytes or has over 1,024 bytes. The limit also bounds how deep values can nest.
 */
export function decodeCborMap(bytes: Uint8Array): Map<unknown, unknown> | null {
  if (bytes.byteLength > MAX_BYTES) return null;
  try {
    // The bytes are copied, because the decoder would read beyond the end of a view into a larger buffer.
    const value: unknown = decodeCBOR(Uint8Array.from(bytes));
    return value instanceof Map ? value : null;
  } catch {
    return null; // The error of the decoder names only an offset.
  }
}

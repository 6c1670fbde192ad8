import { verify } from "node:crypto";

/** The prime of the field, and the coefficient b of the curve. @see FIPS 186-4, D.1.2.3; SEC 2, section 2.4.2 */
const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/** The order of the curve. Both numbers of a signature are below it. */
export const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The size of a coordinate, and of each number of a signature, in bytes. */
export const COORDINATE_BYTES = 32;

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

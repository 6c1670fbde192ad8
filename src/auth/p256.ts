import { verify } from "node:crypto";

/** The field's prime. @see FIPS 186-4, D.1.2.3; SEC 2, section 2.4.2 */
const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/** How many points there are: a signature's two numbers are below it. */
export const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The length of one coordinate, and of each of a signature's numbers. */
export const NUMBER_BYTES = 32;

/** `04`, x, y. @see SEC 1, section 2.3.3 */
const POINT_BYTES = 1 + 2 * NUMBER_BYTES;

/** What stands before a point where a public key is written down. @see RFC 5480, section 2 */
const SPKI_PREFIX = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex");

/** Reads a number, the highest byte first. */
export function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString("hex") || "0"}`);
}

/**
 * Answers whether bytes are a point of P-256, uncompressed. A point beside the curve lies on a
 * weaker one, and could make signatures pass that nobody made.
 *
 * The curve has a prime order, so there is no subgroup to ask after, and `04` cannot write infinity.
 */
export function isPoint(bytes: Uint8Array): boolean {
  if (bytes.byteLength !== POINT_BYTES || bytes[0] !== 0x04) return false;
  const x = toNumber(bytes.subarray(1, 1 + NUMBER_BYTES));
  const y = toNumber(bytes.subarray(1 + NUMBER_BYTES));
  return x < P && y < P && (y * y - (x * x * x - 3n * x + B)) % P === 0n;
}

/** A signature over a message, and the key it should be of. */
export interface Signed {
  /** 65 bytes; a point of the curve. */
  readonly point: Uint8Array;
  readonly message: Uint8Array;
  /** r and s, 32 bytes each, from 1 to below {@link ORDER}. */
  readonly signature: Uint8Array;
}

/** Answers whether an ECDSA signature over P-256 with SHA-256 is right. */
export type Verifier = (signed: Signed) => boolean;

/**
 * Asks `node:crypto`, which Node, Bun, Deno and workerd all have. The key is given as SPKI: it is
 * what each of them takes.
 */
export const verifyP256: Verifier = ({ point, message, signature }) => {
  const key = Buffer.concat([SPKI_PREFIX, point]);
  return verify("sha256", message, { key, format: "der", type: "spki", dsaEncoding: "ieee-p1363" }, signature);
};

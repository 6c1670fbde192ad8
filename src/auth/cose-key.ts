import { decodeCBOR } from "@levischuck/tiny-cbor";
import { ValueError } from "../errors.ts";
import { COORDINATE_BYTES, isCurvePoint } from "./ecdsa-signature.ts";
import { requireBytes } from "./require-bytes.ts";

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

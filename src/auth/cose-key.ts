import { decodeCBOR } from "@levischuck/tiny-cbor";
import { ValueError } from "../errors.ts";
import { requireBytes } from "./bytes.ts";
import { isPoint, NUMBER_BYTES } from "./p256.ts";

/** A key takes 77 bytes; one with an id, its operations and the like is well below this. */
const MAX_BYTES = 1024;

/** The parts of a key, by their labels. @see RFC 9052, section 7.1; RFC 9053, section 7.1.1 */
const KTY = 1;
const ALG = 3;
const CRV = -1;
const X = -2;
const Y = -3;

const EC2 = 2;
const ES256 = -7;
const P256 = 1;

/**
 * Gives the point of a COSE key, as passkeys are registered with, for `credential_public_key` of
 * {@link verify_webauthn_assertion}.
 *
 * @param cose_key an ES256 key: EC2, P-256, with x and y whole; 1,024 bytes at most, and nothing behind it
 * @returns 65 bytes: `04`, x, y; always a point of the curve
 * @throws TypeError when it is not bytes
 * @throws ValueError that says what is wrong with the key
 * @see WebAuthn Level 3, section 5.8.5; the interface, "Passkeys (WebAuthn)"
 */
export function cose_to_raw_point(cose_key: Uint8Array): Uint8Array {
  requireBytes(cose_key, "cose_to_raw_point: the key");
  const key = decodeMap(cose_key);
  if (key === null) throw wrong("it is not one CBOR map");
  if (key.get(KTY) !== EC2) throw wrong("its type (kty) is not EC2");
  if (key.get(ALG) !== ES256) throw wrong("its algorithm (alg) is not ES256");
  if (key.get(CRV) !== P256) throw wrong("its curve (crv) is not P-256");
  const point = Buffer.concat([[0x04], coordinate(key, X), coordinate(key, Y)].map((part) => Uint8Array.from(part)));
  if (!isPoint(point)) throw wrong("its point is not on the curve");
  return Uint8Array.from(point);
}

/** Gives the map that bytes are, whole; `null` for anything else. */
export function decodeMap(bytes: Uint8Array): Map<unknown, unknown> | null {
  // The bound also bounds how deep values nest. The copy is one of its own: the decoder looks at
  // the memory behind what it is given.
  if (bytes.byteLength > MAX_BYTES) return null;
  try {
    const value: unknown = decodeCBOR(Uint8Array.from(bytes));
    return value instanceof Map ? value : null;
  } catch {
    return null; // it says only where in the bytes it gave up
  }
}

function coordinate(key: Map<unknown, unknown>, label: typeof X | typeof Y): Uint8Array {
  const value = key.get(label);
  if (!(value instanceof Uint8Array) || value.byteLength !== NUMBER_BYTES) {
    throw wrong(`its ${label === X ? "x" : "y"} is not 32 bytes`);
  }
  return value;
}

function wrong(why: string): ValueError {
  return new ValueError(`The COSE key cannot be used: ${why}.`);
}

/**
 * A passkey in software, and two independent verifiers of its signatures.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { encodeCBOR } from "@levischuck/tiny-cbor";
import { p256 } from "@noble/curves/nist.js";
import type { AssertionOptions } from "../../src/auth/index.ts";
import { type SignatureVerifier, type SignedMessage, verifyP256 } from "../../src/auth/p256.ts";

/** Verifies with `@noble/curves`, which shares no code with OpenSSL. As in plain ECDSA, a high s is accepted. */
const verifyNoble: SignatureVerifier = ({ point, message, signature }: SignedMessage) =>
  p256.verify(signature, message, point, { lowS: false, prehash: true });

/** Both verifiers, with their names. */
export const verifiers: readonly (readonly [string, SignatureVerifier])[] = [
  ["node:crypto", verifyP256],
  ["@noble/curves", verifyNoble],
];

export const RP_ID = "example.org";
export const ORIGIN = "https://example.org";

/** The flags of the authenticator data. */
export const FLAGS = { up: 0x01, uv: 0x04, be: 0x08, bs: 0x10, at: 0x40, ed: 0x80 } as const;

/** Changes of a valid assertion. They are made before it is signed. */
export interface AssertionChanges {
  /** Members of the client data to replace; `undefined` omits one. */
  readonly clientData?: Readonly<Record<string, unknown>>;
  /** Replaces the client data completely. */
  readonly clientDataJson?: Uint8Array;
  readonly rpId?: string;
  readonly flags?: number;
  readonly count?: number;
  /** The bytes after the header of the authenticator data. */
  readonly rest?: Uint8Array;
}

/** A P-256 key pair, with what an authenticator and a browser do in a ceremony. */
export class Passkey {
  readonly #privateKey: KeyObject;
  /** The public key: 65 bytes. */
  readonly point: Uint8Array;
  readonly challenge = randomBytes(32);

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#privateKey = privateKey;
    this.point = Uint8Array.from(publicKey.export({ format: "der", type: "spki" }).subarray(-65));
  }

  /** Returns the public key as an authenticator registers it. */
  cose(): Uint8Array {
    return coseKey(this.point);
  }

  /** Returns a signature in DER, as authenticators create it. */
  sign(message: Uint8Array): Uint8Array {
    return sign("sha256", message, this.#privateKey);
  }

  /** Returns a valid assertion, or one with changes that the signature includes. */
  assertion(changes: AssertionChanges = {}): AssertionOptions {
    const { clientData = {}, rpId = RP_ID, flags = FLAGS.up, count = 0, rest = new Uint8Array() } = changes;
    const json = {
      type: "webauthn.get",
      challenge: this.challenge.toString("base64url"),
      origin: ORIGIN,
      crossOrigin: false,
      ...clientData,
    };
    const client_data_json = changes.clientDataJson ?? Buffer.from(JSON.stringify(json));
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(count);
    const auth_data = Buffer.concat([sha256(rpId), Buffer.of(flags), counter, rest]);
    return {
      credential_public_key: this.point,
      auth_data,
      client_data_json,
      signature: this.sign(Buffer.concat([auth_data, sha256(client_data_json)])),
      rp_id: RP_ID,
      expected_challenge: this.challenge,
      expected_origin: ORIGIN,
      prior_sign_count: 0,
    };
  }
}

/** Returns a point as a COSE key, with changed members. `undefined` omits one. */
export function coseKey(point: Uint8Array, changes: ReadonlyMap<string | number, unknown> = new Map()): Uint8Array {
  const parts = new Map<string | number, unknown>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Uint8Array.from(point.subarray(1, 33))],
    [-3, Uint8Array.from(point.subarray(33))],
    ...changes,
  ]);
  for (const [label, value] of parts) if (value === undefined) parts.delete(label);
  return encodeCBOR(parts as Parameters<typeof encodeCBOR>[0]); // the tests pass only values that CBOR can represent
}

/** Returns the SHA-256 of bytes, or of the UTF-8 of a text. */
export function sha256(data: Uint8Array | string): Buffer {
  return createHash("sha256").update(data).digest();
}

/** Returns the bytes of a hexadecimal text. */
export function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "hex"));
}

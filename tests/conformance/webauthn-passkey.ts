/**
 * A passkey in software, and the two verifiers that its signatures are given to.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { encodeCBOR } from "@levischuck/tiny-cbor";
import { p256 } from "@noble/curves/nist.js";
import type { AssertionOptions } from "../../src/auth/index.ts";
import { type Signed, type Verifier, verifyP256 } from "../../src/auth/p256.ts";

/** Asks `@noble/curves`, which has no line in common with OpenSSL. Either half of the numbers is taken for s, as ECDSA has it. */
const verifyNoble: Verifier = ({ point, message, signature }: Signed) =>
  p256.verify(signature, message, point, { lowS: false, prehash: true });

/** Both, by name. */
export const verifiers: readonly (readonly [string, Verifier])[] = [
  ["node:crypto", verifyP256],
  ["@noble/curves", verifyNoble],
];

export const RP_ID = "example.org";
export const ORIGIN = "https://example.org";

/** The bits of the authenticator data's flags. */
export const FLAGS = { up: 0x01, uv: 0x04, be: 0x08, bs: 0x10, at: 0x40, ed: 0x80 } as const;

/** What the browser and the authenticator say, where it is not what they should. */
export interface Said {
  readonly clientData?: Readonly<Record<string, unknown>>;
  /** In place of all client data. */
  readonly clientDataJson?: Uint8Array;
  readonly rpId?: string;
  readonly flags?: number;
  readonly count?: number;
  /** Behind the head of the authenticator data. */
  readonly rest?: Uint8Array;
}

/** A key pair of P-256, and what an authenticator and a browser do with it. */
export class Passkey {
  readonly #privateKey: KeyObject;
  /** 65 bytes. */
  readonly point: Uint8Array;
  readonly challenge = randomBytes(32);

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#privateKey = privateKey;
    this.point = Uint8Array.from(publicKey.export({ format: "der", type: "spki" }).subarray(-65));
  }

  /** The key as an authenticator registers it. */
  cose(): Uint8Array {
    return coseKey(this.point);
  }

  /** Signs with DER, as authenticators do. */
  sign(message: Uint8Array): Uint8Array {
    return sign("sha256", message, this.#privateKey);
  }

  /** Gives a sign-in that is right in every point, but for what is said otherwise; what is said is signed. */
  assertion(said: Said = {}): AssertionOptions {
    const { clientData = {}, rpId = RP_ID, flags = FLAGS.up, count = 0, rest = new Uint8Array() } = said;
    const json = {
      type: "webauthn.get",
      challenge: this.challenge.toString("base64url"),
      origin: ORIGIN,
      crossOrigin: false,
      ...clientData,
    };
    const client_data_json = said.clientDataJson ?? Buffer.from(JSON.stringify(json));
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

/** Writes a point as a COSE key, with parts of it changed; `undefined` leaves one out. */
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
  return encodeCBOR(parts as Parameters<typeof encodeCBOR>[0]); // the tests write what CBOR can hold
}

export function sha256(data: Uint8Array | string): Buffer {
  return createHash("sha256").update(data).digest();
}

export function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "hex"));
}

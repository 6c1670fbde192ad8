/**
 * Parses the registration of a passkey. The application requests no attestation, since it accepts authenticators of
 * every manufacturer.
 */
import { createHash } from "node:crypto";
import { ValueError } from "tsweb";
import { cose_to_raw_point } from "tsweb/auth";

/** The data of a registration, and what they must match. */
export interface RegistrationInput {
  /** The client data JSON. */
  readonly clientData: Uint8Array;
  /** The authenticator data. */
  readonly authData: Uint8Array;
  readonly challenge: string;
  readonly origin: string;
  readonly rpId: string;
}

/** The part of a passkey that is stored. */
export interface Registration {
  readonly id: string;
  readonly point: Uint8Array;
  readonly signCount: number;
  readonly backedUp: boolean;
}

/** Offsets in authenticator data. @see WebAuthn Level 3, section 6.1 */
const FLAGS_OFFSET = 32;
const COUNT_OFFSET = 33;
const ID_LENGTH_OFFSET = 53;
const ID_OFFSET = 55;

const MAX_ID_BYTES = 1023;

/** The length of an ES256 key in CTAP2 canonical CBOR. Extensions may follow it. */
const KEY_BYTES = 77;

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const BACKED_UP = 0x10;
const ATTESTED_DATA = 0x40;

/**
 * Parses and checks a registration.
 *
 * @throws ValueError if a check fails
 * @see WebAuthn Level 3, section 7.1
 */
export function readRegistration({ clientData, authData, challenge, origin, rpId }: RegistrationInput): Registration {
  const client = parseJson(clientData);
  if (client.type !== "webauthn.create") throw new ValueError("That is not the registration of a passkey.");
  if (client.challenge !== challenge) throw new ValueError("The passkey answered another challenge.");
  if (client.origin !== origin || client.crossOrigin === true)
    throw new ValueError("The passkey is of another origin.");

  const data = Buffer.from(authData);
  if (data.length < ID_OFFSET) throw new ValueError("The passkey's data are cut short.");
  const rpIdHash = createHash("sha256").update(rpId).digest();
  if (!data.subarray(0, FLAGS_OFFSET).equals(rpIdHash)) throw new ValueError("The passkey is of another site.");
  const flags = data.readUInt8(FLAGS_OFFSET);
  const required = USER_PRESENT | USER_VERIFIED | ATTESTED_DATA;
  if ((flags & required) !== required) throw new ValueError("The passkey was made without a finger, a face or a PIN.");

  const idBytes = data.readUInt16BE(ID_LENGTH_OFFSET);
  if (idBytes === 0 || idBytes > MAX_ID_BYTES) throw new ValueError("The length of the passkey's id is invalid.");
  const keyOffset = ID_OFFSET + idBytes;
  return {
    id: data.subarray(ID_OFFSET, keyOffset).toString("base64url"),
    point: cose_to_raw_point(data.subarray(keyOffset, keyOffset + KEY_BYTES)),
    signCount: data.readUInt32BE(COUNT_OFFSET),
    backedUp: (flags & BACKED_UP) !== 0,
  };
}

function parseJson(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (typeof value === "object" && value !== null) return { ...value };
  } catch {
    // Reported below, with the same message as JSON that is not an object.
  }
  throw new ValueError("The passkey's client data are not JSON.");
}

/**
 * A new passkey, as a browser sends it. There is no attestation to verify: who made the
 * authenticator is nothing to this application, and it asks for none.
 */
import { createHash } from "node:crypto";
import { ValueError } from "tsweb";
import { cose_to_raw_point } from "tsweb/auth";

/** What the browser sent, and what the server knows of it. */
export interface Sent {
  readonly clientData: Uint8Array;
  readonly authData: Uint8Array;
  readonly challenge: string;
  readonly origin: string;
  readonly rpId: string;
}

/** What is to be stored of a passkey. */
export interface Registration {
  readonly id: string;
  readonly point: Uint8Array;
  readonly signCount: number;
  readonly backedUp: boolean;
}

/** Where things are in authenticator data. @see WebAuthn Level 3, section 6.1 */
const FLAGS_AT = 32;
const COUNT_AT = 33;
const ID_LENGTH_AT = 53;
const ID_AT = 55;

const MAX_ID_BYTES = 1023;

/** An ES256 key in the one way in which authenticators write it; extensions may follow. */
const KEY_BYTES = 77;

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const BACKED_UP = 0x10;
const ATTESTED = 0x40;

/**
 * Reads the registration of a passkey.
 *
 * @throws ValueError that names what is wrong with it
 * @see WebAuthn Level 3, section 7.1
 */
export function readRegistration({ clientData, authData, challenge, origin, rpId }: Sent): Registration {
  const said = readJson(clientData);
  if (said.type !== "webauthn.create") throw new ValueError("That is not the registration of a passkey.");
  if (said.challenge !== challenge) throw new ValueError("The passkey answered another challenge.");
  if (said.origin !== origin || said.crossOrigin === true) throw new ValueError("The passkey is of another origin.");

  const data = Buffer.from(authData);
  if (data.length < ID_AT) throw new ValueError("The passkey's data are cut short.");
  const rpIdHash = createHash("sha256").update(rpId).digest();
  if (!data.subarray(0, FLAGS_AT).equals(rpIdHash)) throw new ValueError("The passkey is of another site.");
  const flags = data.readUInt8(FLAGS_AT);
  const wanted = USER_PRESENT | USER_VERIFIED | ATTESTED;
  if ((flags & wanted) !== wanted) throw new ValueError("The passkey was made without a finger, a face or a PIN.");

  const idBytes = data.readUInt16BE(ID_LENGTH_AT);
  if (idBytes === 0 || idBytes > MAX_ID_BYTES) throw new ValueError("The passkey's id is not one.");
  const keyAt = ID_AT + idBytes;
  return {
    id: data.subarray(ID_AT, keyAt).toString("base64url"),
    point: cose_to_raw_point(data.subarray(keyAt, keyAt + KEY_BYTES)),
    signCount: data.readUInt32BE(COUNT_AT),
    backedUp: (flags & BACKED_UP) !== 0,
  };
}

function readJson(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (typeof value === "object" && value !== null) return { ...value };
  } catch {
    // Said below: what is not JSON and what is no object are the same to whoever sent it.
  }
  throw new ValueError("The passkey's client data are not JSON.");
}

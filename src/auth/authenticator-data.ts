import { parseJson } from "../http/index.ts";
import { decodeCborMap } from "./cose-key.ts";

/** The authenticator's description of a sign-in. @see WebAuthn Level 3, section 6.1 */
export interface AuthenticatorData {
  /** The SHA-256 of the relying party's id: 32 bytes. */
  readonly rpIdHash: Uint8Array;
  /** Flag UP: a user was present. */
  readonly userPresent: boolean;
  /** Flag UV: the authenticator verified the user, by a PIN, a fingerprint or a face. */
  readonly userVerified: boolean;
  /** Flag BE: the key may be copied to other devices. */
  readonly backupEligible: boolean;
  /** Flag BS: the key has been copied to other devices. */
  readonly backedUp: boolean;
  /** The number of uses of the key; 0 if the authenticator does not count. */
  readonly signCount: number;
}

const RP_ID_HASH_BYTES = 32;
const FLAGS_OFFSET = RP_ID_HASH_BYTES;
const SIGN_COUNT_OFFSET = FLAGS_OFFSET + 1;
const HEADER_BYTES = SIGN_COUNT_OFFSET + 4;

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const BACKUP_ELIGIBLE = 0x08;
const BACKED_UP = 0x10;
const ATTESTED_CREDENTIAL_DATA = 0x40;
const EXTENSION_DATA = 0x80;

/**
 * Returns the authenticator data of an assertion; `null` if it is malformed: too short, with a credential (which
 * only a registration has), or with more or fewer bytes after the header than the flags require.
 */
export function parseAuthenticatorData(bytes: Uint8Array): AuthenticatorData | null {
  if (bytes.byteLength < HEADER_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint8(FLAGS_OFFSET);
  const hasFlag = (flag: number) => (flags & flag) !== 0;
  const extensions = bytes.subarray(HEADER_BYTES);
  const isComplete = hasFlag(EXTENSION_DATA) ? decodeCborMap(extensions) !== null : extensions.byteLength === 0;
  if (hasFlag(ATTESTED_CREDENTIAL_DATA) || !isComplete) return null;
  return {
    rpIdHash: bytes.subarray(0, RP_ID_HASH_BYTES),
    userPresent: hasFlag(USER_PRESENT),
    userVerified: hasFlag(USER_VERIFIED),
    backupEligible: hasFlag(BACKUP_ELIGIBLE),
    backedUp: hasFlag(BACKED_UP),
    signCount: view.getUint32(SIGN_COUNT_OFFSET),
  };
}

/** The browser's description of the ceremony, not yet checked. @see WebAuthn Level 3, section 5.8.1 */
interface ClientData {
  readonly type: unknown;
  readonly challenge: unknown;
  readonly origin: unknown;
  readonly crossOrigin: unknown;
  readonly topOrigin: unknown;
}

/** The maximum size, in bytes. Browsers write about 200 bytes, and more for a long challenge. */
const MAX_BYTES = 65_536;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns the client data of a ceremony, with unchecked members; `null` unless the bytes are a JSON object in UTF-8, of
 * at most 64 KiB.
 */
export function parseClientData(bytes: Uint8Array): ClientData | null {
  if (bytes.byteLength > MAX_BYTES) return null;
  try {
    const value: unknown = parseJson(utf8.decode(bytes));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    const { type, challenge, origin, crossOrigin, topOrigin } = value as Record<string, unknown>; // a JSON object
    return { type, challenge, origin, crossOrigin, topOrigin };
  } catch {
    return null; // Invalid UTF-8 and invalid JSON are refused in the same way.
  }
}

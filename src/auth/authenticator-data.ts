import { decodeMap } from "./cose-key.ts";

/** What an authenticator says of a sign-in. @see WebAuthn Level 3, section 6.1 */
export interface AuthenticatorData {
  /** SHA-256 of the relying party's id: 32 bytes. */
  readonly rpIdHash: Uint8Array;
  /** Somebody was there. */
  readonly userPresent: boolean;
  /** It was they: a PIN, a finger, a face. */
  readonly userVerified: boolean;
  /** The key may live on more than one device. */
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
  /** Counts the key's uses; 0 where the authenticator does not count. */
  readonly signCount: number;
}

const RP_ID_HASH_BYTES = 32;
const FLAGS_AT = RP_ID_HASH_BYTES;
const COUNT_AT = FLAGS_AT + 1;
const HEAD_BYTES = COUNT_AT + 4;

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const BACKUP_ELIGIBLE = 0x08;
const BACKED_UP = 0x10;
const ATTESTED = 0x40;
const EXTENSIONS = 0x80;

/**
 * Reads the authenticator data of an assertion; `null` for what is none: too short, with a key in
 * it, which only a registration has, or with more or less behind its head than its flags say.
 */
export function readAuthenticatorData(bytes: Uint8Array): AuthenticatorData | null {
  if (bytes.byteLength < HEAD_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint8(FLAGS_AT);
  const has = (flag: number) => (flags & flag) !== 0;
  const rest = bytes.subarray(HEAD_BYTES);
  const isWhole = has(EXTENSIONS) ? decodeMap(rest) !== null : rest.byteLength === 0;
  if (has(ATTESTED) || !isWhole) return null;
  return {
    rpIdHash: bytes.subarray(0, RP_ID_HASH_BYTES),
    userPresent: has(USER_PRESENT),
    userVerified: has(USER_VERIFIED),
    backupEligible: has(BACKUP_ELIGIBLE),
    backedUp: has(BACKED_UP),
    signCount: view.getUint32(COUNT_AT),
  };
}

import { createHash } from "node:crypto";

/** The bytes of a hash that identify a subject: nobody finds two users with the same one. */
const HASH_BYTES = 16;

/** The format of every subject: its kind, and a hash in base64url. */
export const SUBJECT_PATTERN = /^[us]:[\w-]{22}$/;

/**
 * Returns the subject of a revocation of all sign-ins of a user. The store contains a hash, since a user id can be long or
 * an e-mail address.
 */
export function subjectOfUser(sub: string): string {
  return `u:${hash(sub)}`;
}

/** Returns the subject of a revocation of one sign-in. */
export function subjectOfSignIn(sid: string): string {
  return `s:${hash(sid)}`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest().subarray(0, HASH_BYTES).toString("base64url");
}

import { createHash } from "node:crypto";

/** The bytes of a hash that identify a key: nobody finds two keys with the same one. */
const HASH_BYTES = 16;

/**
 * Returns a key of 22 characters for a text of any length. Stores contain no text of the application, which may be an e-mail
 * address. Any two texts have different keys: UTF-16 also represents unpaired surrogates, which UTF-8 would replace.
 */
export function hashedKey(text: string): string {
  return createHash("sha256").update(text, "utf16le").digest().subarray(0, HASH_BYTES).toString("base64url");
}

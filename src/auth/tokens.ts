import { types } from "node:util";
import { currentRealm, deriveKey, hashToken, signToken, verifyToken } from "../session/index.ts";
import { describeType } from "./require-bytes.ts";

const MIN_SECRET_BYTES = 16;

/** The maximum size of a subject, in bytes of its JSON. The token must fit into a URL. */
const MAX_SUBJECT_BYTES = 1024;

/** The options of {@link issue_magic_token}. */
export interface MagicOptions {
  /** The lifetime in seconds. */
  readonly ttl: number;
}

/**
 * Returns a signed token for a link in an email that signs a user in or confirms an address. Until it expires, it proves
 * that its holder received that email.
 *
 * - The holder can read the subject.
 * - Mail scanners open links. Let the link open a page with a button, and verify the token when the button is pressed.
 * - A token can be verified any number of times. Store used tokens until they expire, and refuse them.
 * - The secret may also be `WEB_AUTH_SECRET`. Its key is derived for this purpose and for the realm of the application only, so
 *   a magic token is never valid as a session or a feed, or in another application. A script outside of the application's
 *   folder sets `WEB_REALM`.
 *
 * @param secret at least 16 bytes, as bytes or as a string in UTF-8
 * @param subject the user or address that the token is for; 1 to 1,024 bytes as JSON
 * @param options `ttl` in seconds. With a `ttl` of 0 or less, the token has already expired
 * @returns a string of URL-safe characters
 * @throws TypeError for an invalid secret, subject or `ttl`
 * @throws RangeError if the secret is too short, the subject too long, or the `ttl` not finite or too large
 * @see docs/protocol.md 14.2
 */
export function issue_magic_token(secret: Uint8Array | string, subject: string, options: MagicOptions): string {
  requireSecret(secret, "issue_magic_token");
  requireSubject(subject);
  const ttl: unknown = options?.ttl;
  if (typeof ttl !== "number") {
    throw new TypeError("issue_magic_token: the option ttl must be a number of seconds. Pass { ttl: 900 }.");
  }
  const expiresAtMs = Date.now() + Math.round(ttl * 1000);
  if (!Number.isSafeInteger(expiresAtMs)) {
    throw new RangeError(`issue_magic_token: the ttl ${ttl} is too large or not finite. Pass a number of seconds.`);
  }
  return signToken(magicKey(secret), JSON.stringify([subject, expiresAtMs]));
}

/**
 * Returns the subject of a token of {@link issue_magic_token} with the same secret in the same realm; `null` if the token is invalid or
 * expired. Each token has exactly one spelling, so its text can be compared with those of used tokens.
 *
 * @param token of any type, since it comes from the client
 * @throws TypeError if the secret is neither bytes nor a string
 * @throws RangeError if the secret is too short
 * @see docs/protocol.md 14.2
 */
export function verify_magic_token(secret: Uint8Array | string, token: string): string | null {
  requireSecret(secret, "verify_magic_token");
  const text = verifyToken([magicKey(secret)], token);
  if (text === null) return null;
  // Only issue_magic_token signs with this key, and it signs nothing but this array.
  const [subject, expiresAtMs] = JSON.parse(text) as [string, number];
  return Date.now() < expiresAtMs ? subject : null;
}

function magicKey(secret: Uint8Array | string) {
  return deriveKey(secret, "magic", currentRealm());
}

function requireSecret(secret: unknown, call: string): void {
  if (typeof secret !== "string" && !types.isUint8Array(secret)) {
    throw new TypeError(
      `${call}: the secret must be bytes (a Uint8Array) or a string. Received: ${describeType(secret)}.`,
    );
  }
  if (Buffer.byteLength(secret) < MIN_SECRET_BYTES) {
    throw new RangeError(
      `${call}: the secret must have at least ${MIN_SECRET_BYTES} bytes. Create one with randomBytes(32).`,
    );
  }
}

function requireSubject(subject: unknown): void {
  if (typeof subject !== "string" || subject === "") {
    const received = subject === "" ? "an empty string" : describeType(subject);
    throw new TypeError(`issue_magic_token: the subject must be a non-empty string. Received: ${received}.`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(subject)) - 2;
  if (bytes > MAX_SUBJECT_BYTES) {
    throw new RangeError(
      `issue_magic_token: the subject has ${bytes} bytes, over the maximum of ${MAX_SUBJECT_BYTES}. Pass an id instead.`,
    );
  }
}

/**
 * Returns the SHA-256 of a token as base64url: 43 characters, the same for the same token. Store it in place of an API key, and look
 * the key up by it. No secret is then in the database, and no code compares secrets, which could reveal them by its time.
 *
 * It is for tokens of at least 16 random bytes only, such as `randomBytes(32).toString("base64url")`. A password can be guessed from
 * such a hash: use `hash_password` for it.
 *
 * @param token a non-empty string
 * @throws TypeError for anything else. The token is not in the message.
 */
export function hash_token(token: string): string {
  if (typeof token === "string" && token !== "") return hashToken(token);
  const received = token === "" ? "an empty string" : describeType(token);
  throw new TypeError(`hash_token: the token must be a non-empty string. Received: ${received}.`);
}

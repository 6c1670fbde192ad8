import { types } from "node:util";
import { deriveKey, signToken, verifyToken } from "../session/index.ts";

const MIN_SECRET_BYTES = 16;

/** The longest subject, in bytes as JSON writes it: the token has to fit into an address. */
const MAX_SUBJECT_BYTES = 1024;

/** How long a magic token holds. */
export interface MagicOptions {
  /** Seconds from now. */
  readonly ttl: number;
}

/**
 * Issues a signed token that proves, until it expires, that its holder was sent it: for a link in
 * a mail that signs in, or confirms an address.
 *
 * The token shows its subject to whoever holds it. Let the link land on a page with a button that
 * spends it, since mail scanners open links; and spend it once: keep what was spent until it
 * expires. Any secret will do, also the one of another purpose; no session and no feed can be made
 * of it.
 *
 * @param secret 16 bytes or more, as bytes or as a text's UTF-8
 * @param subject whom or what it is for; 1 to 1,024 bytes, as JSON writes them
 * @param options `ttl` in seconds; nought or less issues a token that has expired
 * @returns URL-safe characters only
 * @throws TypeError for a secret, a subject or a `ttl` that is none
 * @throws RangeError for a secret too short, a subject too long, or a `ttl` without end
 * @see the interface, "One-time codes and magic links"
 */
export function issue_magic_token(secret: Uint8Array | string, subject: string, options: MagicOptions): string {
  requireSecret(secret, "issue_magic_token");
  requireSubject(subject);
  const ttl: unknown = options?.ttl;
  if (typeof ttl !== "number") throw new TypeError("issue_magic_token: give { ttl } in seconds.");
  const expiresMs = Date.now() + Math.round(ttl * 1000);
  if (!Number.isSafeInteger(expiresMs)) throw new RangeError(`issue_magic_token: a ttl of ${ttl} has no end.`);
  return signToken(deriveKey(secret, "magic"), JSON.stringify([subject, expiresMs]));
}

/**
 * Gives the subject of a token that {@link issue_magic_token} made with this secret and that has
 * not expired; `null` for every other one, whatever it is. A changed character is a refusal, so
 * the token's own text can be kept to see whether it was spent.
 *
 * @throws TypeError for a secret that is not bytes or a string
 * @throws RangeError for a secret too short
 */
export function verify_magic_token(secret: Uint8Array | string, token: string): string | null {
  requireSecret(secret, "verify_magic_token");
  const text = verifyToken([deriveKey(secret, "magic")], token);
  if (text === null) return null;
  // Only issue_magic_token writes what this key signs, and it writes this.
  const [subject, expiresMs] = JSON.parse(text) as [string, number];
  return Date.now() < expiresMs ? subject : null;
}

function requireSecret(secret: unknown, call: string): void {
  if (typeof secret !== "string" && !types.isUint8Array(secret)) {
    throw new TypeError(`${call}: the secret must be bytes or a string.`);
  }
  if (Buffer.byteLength(secret) < MIN_SECRET_BYTES) {
    throw new RangeError(
      `${call}: the secret must be ${MIN_SECRET_BYTES} bytes or more; make one with randomBytes(32).`,
    );
  }
}

function requireSubject(subject: unknown): void {
  if (typeof subject !== "string" || subject === "") {
    throw new TypeError("issue_magic_token: the subject must be a non-empty string.");
  }
  if (Buffer.byteLength(JSON.stringify(subject)) - 2 > MAX_SUBJECT_BYTES) {
    throw new RangeError(`issue_magic_token: the subject is over ${MAX_SUBJECT_BYTES} bytes.`);
  }
}

const SCHEME = "pbkdf2_sha256";
const HASH_BYTES = 32;

/** The maximum number of iterations. A stored hash that an attacker planted must not block the server. */
export const MAX_ITERATIONS = 10_000_000;

/** The maximum length, in characters. No valid hash is as long. */
const MAX_CHARS = 512;

/** The parts of a stored password hash. */
export interface StoredHash {
  readonly iterations: number;
  /** The salt. Its UTF-8 is used as it is, without decoding. */
  readonly salt: string;
  /** 32 bytes. */
  readonly hash: Buffer;
}

/** Returns a hash in the format of Django: `pbkdf2_sha256$<iterations>$<salt>$<hash>`, with the hash in base64. */
export function formatStoredHash({ iterations, salt, hash }: StoredHash): string {
  return `${SCHEME}$${iterations}$${salt}$${hash.toString("base64")}`;
}

/**
 * Returns the parts of a stored hash; `null` if it is malformed or has more than {@link MAX_ITERATIONS}.
 *
 * @see docs/protocol.md 14.1
 */
export function parseStoredHash(stored: unknown): StoredHash | null {
  if (typeof stored !== "string" || stored.length > MAX_CHARS) return null;
  const [scheme, count, salt, encoded, ...rest] = stored.split("$");
  if (scheme !== SCHEME || !count || !salt || !encoded || rest.length > 0) return null;
  if (!/^[1-9][0-9]{0,7}$/.test(count)) return null;
  const iterations = Number(count);
  const hash = Buffer.from(encoded, "base64");
  if (iterations > MAX_ITERATIONS || hash.byteLength !== HASH_BYTES || hash.toString("base64") !== encoded) return null;
  return { iterations, salt, hash };
}

const SCHEME = "pbkdf2_sha256";
const HASH_BYTES = 32;

/** The most iterations that a stored hash can ask for: a planted one must not hang the server. */
export const MAX_ITERATIONS = 10_000_000;

/** Longer than any stored hash: the rest is not looked at. */
const MAX_CHARS = 512;

/** A stored password, taken apart. */
export interface StoredHash {
  readonly iterations: number;
  /** Used as it is written, as UTF-8; it is no encoding of anything. */
  readonly salt: string;
  /** 32 bytes. */
  readonly hash: Buffer;
}

/** Writes a stored password: `pbkdf2_sha256$<iterations>$<salt>$<hash>`, the hash in base64, as Django does. */
export function formatStoredHash({ iterations, salt, hash }: StoredHash): string {
  return `${SCHEME}$${iterations}$${salt}$${hash.toString("base64")}`;
}

/**
 * Takes a stored password apart; `null` for anything that is not one, or asks for more than
 * {@link MAX_ITERATIONS}.
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

import { pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { RPCError } from "../errors.ts";
import { createLanes } from "./concurrency-queue.ts";
import { formatStoredHash, parseStoredHash, type StoredHash } from "./stored-hash.ts";

/** What a password costs to try. @see OWASP, Password Storage Cheat Sheet, PBKDF2 */
export const ITERATIONS = 600_000;

/** The longest password that is taken, in bytes of UTF-8. */
const MAX_PASSWORD_BYTES = 4096;

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** PBKDF2-HMAC-SHA256 to 32 bytes. */
export type Derive = (password: string, salt: string, iterations: number) => Promise<Buffer>;

/** Hashes and verifies; made by {@link createPasswords}. */
export interface Passwords {
  hash_password(password: string): Promise<string>;
  verify_password(password: string, stored: string | null | undefined): Promise<boolean>;
}

/** Runs in the thread pool: the event loop goes on meanwhile. */
export const derivePbkdf2: Derive = (password, salt, iterations) =>
  new Promise((resolve, reject) => {
    pbkdf2(password, salt, iterations, HASH_BYTES, "sha256", (error, hash) => (error ? reject(error) : resolve(hash)));
  });

/** What is compared with when there is nothing to compare with: no password has it. */
const NOTHING: StoredHash = {
  iterations: ITERATIONS,
  salt: "0".repeat(SALT_BYTES * 2),
  hash: Buffer.alloc(HASH_BYTES),
};

/**
 * Makes the two password calls over a derivation. Two derivations run at once, since the thread
 * pool has four threads that files and names need too; 32 wait; beyond that is `rate_limited`.
 */
export function createPasswords(derive: Derive): Passwords {
  const inTurn = createLanes({ running: 2, waiting: 32 });
  return {
    async hash_password(password) {
      requireString(password, "hash_password");
      const wrong = whyUnusable(password);
      if (wrong) throw new RPCError("validation_error", wrong);
      const salt = randomBytes(SALT_BYTES).toString("hex");
      const hash = await inTurn(() => derive(password, salt, ITERATIONS));
      return formatStoredHash({ iterations: ITERATIONS, salt, hash });
    },

    async verify_password(password, stored) {
      requireString(password, "verify_password");
      // What hash_password refuses was never stored; it costs the same to find that out.
      const known = whyUnusable(password) === null ? parseStoredHash(stored) : null;
      return inTurn(() => matches(derive, known ? password : "", known));
    },
  };
}

/** An unknown account, or a hash that asks for less, takes as long as a known one of today. */
async function matches(derive: Derive, password: string, known: StoredHash | null): Promise<boolean> {
  const { iterations, salt, hash } = known ?? NOTHING;
  const derived = await derive(password, salt, iterations);
  if (iterations < ITERATIONS) await derive(password, NOTHING.salt, ITERATIONS - iterations);
  const same = timingSafeEqual(derived, hash);
  return same && known !== null;
}

function requireString(password: unknown, call: string): asserts password is string {
  if (typeof password !== "string") throw new TypeError(`${call}: the password must be a string.`);
}

/** Says why no password can be this one, or `null`. */
function whyUnusable(password: string): string | null {
  if (password === "") return "A password cannot be empty.";
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES)
    return `A password is at most ${MAX_PASSWORD_BYTES} bytes long.`;
  // Half a surrogate pair has no UTF-8: two such passwords would be one.
  if (!password.isWellFormed()) return "A password must be valid Unicode text.";
  // HMAC fills a short key up with noughts: "secret\0" would be the same password as "secret".
  if (password.includes("\0")) return "A password cannot hold a NUL character.";
  return null;
}

const passwords = createPasswords(derivePbkdf2);

/**
 * Hashes a password for storage: PBKDF2-HMAC-SHA256, 600,000 iterations, a random salt of 16
 * bytes, off the main thread. Django reads what this writes, and the other way round.
 *
 * The password's UTF-8 is hashed as it came, with no Unicode normalisation. How long it must be is
 * for the application to say; it can be 1 to 4,096 bytes.
 *
 * @returns `pbkdf2_sha256$600000$<salt>$<hash>`, 98 characters
 * @throws TypeError when it is not a string
 * @throws RPCError `validation_error` when it is empty, too long, not Unicode, or holds a NUL
 * @throws RPCError `rate_limited` when two are under way and 32 wait
 * @see the interface, "Password hashing"
 */
export function hash_password(password: string): Promise<string> {
  return passwords.hash_password(password);
}

/**
 * Answers whether a password is the one that was stored; compared in constant time.
 *
 * Call it for an unknown account too, with nothing stored: it takes as long as for a known one, so
 * that the time does not tell which accounts there are. A malformed `stored` is `false` in the
 * same time, and one of fewer iterations is brought up to it. One of more takes longer, up to
 * 10,000,000 iterations; beyond that it is `false`.
 *
 * @param stored what {@link hash_password} or Django gave
 * @throws TypeError when the password is not a string
 * @throws RPCError `rate_limited` when two are under way and 32 wait
 * @example
 * const user = await users.find(email);
 * if (!(await verify_password(password, user?.hash)) || !user) return false; // in this order
 */
export function verify_password(password: string, stored: string | null | undefined): Promise<boolean> {
  return passwords.verify_password(password, stored);
}

import { pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { RPCError } from "../errors.ts";
import { currentContext } from "../http/index.ts";
import { clientKey } from "../rate-limit/index.ts";
import { createConcurrencyQueue, type QueueClient } from "./concurrency-queue.ts";
import { describeType } from "./require-bytes.ts";
/** The iterations of PBKDF2 for new hashes. @see OWASP, Password Storage Cheat Sheet, PBKDF2 */
export const ITERATIONS = 600_000;

/** The maximum size of a password, in bytes of UTF-8. */
const MAX_PASSWORD_BYTES = 4096;

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** The limits of concurrent work. Node's thread pool has four threads, which files and DNS lookups need as well. */
const QUEUE_LIMITS = { maxRunning: 2, maxQueued: 32, maxQueuedPerClient: 8 };

/** Returns the 32 bytes of PBKDF2-HMAC-SHA256. */
export type DeriveKey = (password: string, salt: string, iterations: number) => Promise<Buffer>;

/** The functions of {@link createPasswordFunctions}. */
export interface PasswordFunctions {
  hash_password(password: string): Promise<string>;
  verify_password(password: string, stored: string | null | undefined): Promise<boolean>;
}

/** Derives a key in Node's thread pool, so the event loop is not blocked. */
export const derivePbkdf2: DeriveKey = (password, salt, iterations) =>
  new Promise((resolve, reject) => {
    pbkdf2(password, salt, iterations, HASH_BYTES, "sha256", (error, hash) => (error ? reject(error) : resolve(hash)));
  });

/** The hash that a password is compared with if there is no stored one, so that the work is the same. */
const DUMMY_HASH: StoredHash = {
  iterations: ITERATIONS,
  salt: "0".repeat(SALT_BYTES * 2),
  hash: Buffer.alloc(HASH_BYTES),
};

/** Returns the two password functions with their own queue. Tests pass a faster or a counting `derive`. */
export function createPasswordFunctions(derive: DeriveKey): PasswordFunctions {
  const enqueue = createConcurrencyQueue(QUEUE_LIMITS);
  return {
    async hash_password(password) {
      requireString(password, "hash_password");
      const problem = passwordProblem(password);
      if (problem) throw new RPCError("validation_error", problem);
      const salt = randomBytes(SALT_BYTES).toString("hex");
      const hash = await enqueue(currentClient(), () => derive(password, salt, ITERATIONS));
      return formatStoredHash({ iterations: ITERATIONS, salt, hash });
    },

    async verify_password(password, stored) {
      requireString(password, "verify_password");
      // hash_password refuses such a password, so no hash of it is stored. The work stays the same.
      const storedHash = passwordProblem(password) === null ? parseStoredHash(stored) : null;
      return enqueue(currentClient(), () => isMatch(derive, storedHash ? password : "", storedHash));
    },
  };
}

/** Returns the client of the current request, as rate limits identify it; `null` outside of requests. */
function currentClient(): QueueClient {
  const context = currentContext();
  return context ? clientKey(context.address) : null;
}

/**
 * Returns whether a password matches a stored hash.
 *
 * An unknown account (`null`) and a hash with fewer iterations cost as much as a current hash. The response time does not
 * reveal whether an account exists (user enumeration).
 */
async function isMatch(derive: DeriveKey, password: string, storedHash: StoredHash | null): Promise<boolean> {
  const { iterations, salt, hash } = storedHash ?? DUMMY_HASH;
  const derived = await derive(password, salt, iterations);
  if (iterations < ITERATIONS) await derive(password, DUMMY_HASH.salt, ITERATIONS - iterations);
  const isEqual = timingSafeEqual(derived, hash);
  return isEqual && storedHash !== null;
}

function requireString(password: unknown, call: string): asserts password is string {
  if (typeof password === "string") return;
  throw new TypeError(`${call}: the password must be a string. Received: ${describeType(password)}.`);
}

/** Returns the reason why a password is not accepted, or `null`. The reason never contains the password. */
function passwordProblem(password: string): string | null {
  if (password === "") return "A password cannot be empty.";
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES)
    return `A password can have at most ${MAX_PASSWORD_BYTES} bytes.`;
  // Unpaired surrogates have no UTF-8 and are all replaced by the same character: two passwords would be equal.
  if (!password.isWellFormed()) return "A password must be valid Unicode text.";
  // HMAC pads a short key with zeros: "secret\0" would be the same password as "secret".
  if (password.includes("\0")) return "A password cannot contain a NUL character.";
  return null;
}

const passwords = createPasswordFunctions(derivePbkdf2);

/**
 * Returns a hash of a password for storage: PBKDF2-HMAC-SHA256 with 600,000 iterations and a random salt of 16 bytes. It
 * does not block the event loop. The format is compatible with Django.
 *
 * The UTF-8 of the password is hashed without Unicode normalization. Two operations run at once in the process. The
 * clients of the others take turns: up to 8 wait for one client and 32 for all. Work outside of requests, such as a
 * script, counts as one client.
 *
 * @param password 1 to 4,096 bytes of UTF-8. Require a longer minimum in the application.
 * @returns `pbkdf2_sha256$600000$<salt>$<hash>`, 98 characters
 * @throws TypeError if the password is not a string
 * @throws RPCError `validation_error` if it is empty, too long, not valid Unicode, or contains NUL
 * @throws RPCError `rate_limited` if 8 operations of this client wait, or 32 of all clients. Its `details.retry_after` is
 *   the estimated wait in seconds.
 * @see docs/protocol.md 14.1
 */
export function hash_password(password: string): Promise<string> {
  return passwords.hash_password(password);
}

/**
 * Returns whether a password matches a stored hash. The hashes are compared in constant time. It does not block the
 * event loop.
 *
 * Call it for an unknown account too, with `undefined`. It takes as long as for a known account, so the time does not
 * reveal which accounts exist. When unsure it returns `false`, in the same time: for a malformed hash, and for a password
 * that `hash_password` refuses. A hash with more than 600,000 iterations takes longer. Over 10,000,000 iterations, it
 * counts as malformed.
 *
 * @param stored a hash of {@link hash_password} or of Django
 * @throws TypeError if the password is not a string
 * @throws RPCError `rate_limited` if 8 operations of this client wait, or 32 of all clients. Its `details.retry_after` is
 *   the estimated wait in seconds.
 * @see docs/protocol.md 14.1
 * @example
 * const user = await users.find(email);
 * const isValid = await verify_password(password, user?.hash); // also without a user
 * if (!user || !isValid) throw new RPCError("unauthenticated", "Wrong address or password.");
 */
export function verify_password(password: string, stored: string | null | undefined): Promise<boolean> {
  return passwords.verify_password(password, stored);
}

const SCHEME = "pbkdf2_sha256";

/** The maximum number of iterations. A stored hash that an attacker planted must not block the server. */
export const MAX_ITERATIONS = 10_000_000;

/** The maximum length, in characters. No valid hash is as long. */
const MAX_CHARS = 512;

/** The parts of a stored password hash. */
interface StoredHash {
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

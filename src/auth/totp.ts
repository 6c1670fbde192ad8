import { createHmac, timingSafeEqual } from "node:crypto";
import { types } from "node:util";

const STEP_SECONDS = 30;
const DIGITS = 6;

/** Which moment a code is for. */
export interface TotpOptions {
  /** Seconds since the epoch; now, when it is left out. */
  readonly at?: number;
}

/**
 * Gives the one-time code of a moment: six digits, another every 30 seconds, HMAC-SHA-1 as every
 * authenticator app has it.
 *
 * @param secret_bytes the shared secret itself, not its base32; 20 random bytes are usual
 * @throws TypeError for a secret that is not bytes, or none, and for options that are none
 * @throws RangeError for a moment that is not a number of seconds from the epoch on
 * @see RFC 6238; the interface, "One-time codes and magic links"
 */
export function totp(secret_bytes: Uint8Array, options: TotpOptions = {}): string {
  requireSecret(secret_bytes, "totp");
  return codeAt(secret_bytes, stepOf(options, "totp"));
}

/**
 * Answers whether a code is that of the moment, of the step before it or of the step after it.
 *
 * A code holds for up to 90 seconds, and six digits can be guessed: count the attempts of each
 * account, and where it matters keep the last code that was used and refuse it a second time.
 *
 * @param code what the visitor typed: six digits and nothing else; anything else is `false`
 * @throws TypeError for a secret that is not bytes, or none, and for options that are none
 * @throws RangeError for a moment that is not a number of seconds from the epoch on
 */
export function verify_totp(secret_bytes: Uint8Array, code: string, options: TotpOptions = {}): boolean {
  requireSecret(secret_bytes, "verify_totp");
  const step = stepOf(options, "verify_totp");
  if (typeof code !== "string" || !/^[0-9]{6}$/.test(code)) return false;
  const given = Buffer.from(code);
  let same = false;
  // All of them, always: stopping at the first would tell by its time which one it was.
  for (const near of [step - 1, step, step + 1]) {
    if (near >= 0 && timingSafeEqual(Buffer.from(codeAt(secret_bytes, near)), given)) same = true;
  }
  return same;
}

/** The code of a step. @see RFC 4226, section 5.3 */
function codeAt(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac("sha1", secret).update(counter).digest();
  const offset = digest.readUInt8(digest.length - 1) & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

function stepOf(options: TotpOptions, call: string): number {
  if (typeof options !== "object" || options === null) throw new TypeError(`${call}: the options must be an object.`);
  const seconds = options.at === undefined ? Date.now() / 1000 : options.at;
  if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`${call}: "at" must be a number of seconds since the epoch.`);
  }
  return Math.floor(seconds / STEP_SECONDS);
}

function requireSecret(secret: unknown, call: string): void {
  if (!types.isUint8Array(secret)) {
    throw new TypeError(`${call}: the secret must be bytes (a Uint8Array); decode its base32 first.`);
  }
  if (secret.byteLength === 0) throw new TypeError(`${call}: the secret is empty.`);
}

import { createHmac, timingSafeEqual } from "node:crypto";
import { types } from "node:util";
import { describeType } from "./require-bytes.ts";

const STEP_SECONDS = 30;
const DIGITS = 6;

/** The options of {@link totp} and {@link verify_totp}. */
export interface TotpOptions {
  /** The time of the code, in seconds since the Unix epoch. Default: now. */
  readonly at?: number;
}

/**
 * Returns the one-time code of a time: six digits, which change every 30 seconds. It uses HMAC-SHA-1, as authenticator
 * apps do.
 *
 * @param secret_bytes the decoded shared secret, not its base32; usually 20 random bytes
 * @throws TypeError if the secret is not bytes or is empty, and if the options are not an object
 * @throws RangeError if `at` is not a number of seconds since the Unix epoch
 * @see RFC 6238; docs/protocol.md 14.3
 */
export function totp(secret_bytes: Uint8Array, options: TotpOptions = {}): string {
  requireSecret(secret_bytes, "totp");
  return codeOfStep(secret_bytes, stepOf(options, "totp"));
}

/**
 * Returns whether a code is that of the current step, the one before, or the one after.
 *
 * A code is valid for up to 90 seconds, and six digits can be guessed. Limit the attempts for each account. To prevent
 * the reuse of a code, store the last accepted one and refuse it.
 *
 * @param secret_bytes the decoded shared secret, not its base32
 * @param code the user's input: exactly six ASCII digits; the result is `false` for anything else
 * @throws TypeError if the secret is not bytes or is empty, and if the options are not an object
 * @throws RangeError if `at` is not a number of seconds since the Unix epoch
 * @see RFC 6238, section 5.2; docs/protocol.md 14.3
 */
export function verify_totp(secret_bytes: Uint8Array, code: string, options: TotpOptions = {}): boolean {
  requireSecret(secret_bytes, "verify_totp");
  const step = stepOf(options, "verify_totp");
  if (typeof code !== "string" || !/^[0-9]{6}$/.test(code)) return false;
  const received = Buffer.from(code);
  let isMatch = false;
  // All three steps are always computed: stopping at the first match would reveal by its time which step it was.
  for (const candidate of [step - 1, step, step + 1]) {
    if (candidate >= 0 && timingSafeEqual(Buffer.from(codeOfStep(secret_bytes, candidate)), received)) isMatch = true;
  }
  return isMatch;
}

/** Returns the code of a time step: HOTP with the step as its counter. @see RFC 4226, section 5.3 */
function codeOfStep(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac("sha1", secret).update(counter).digest();
  const offset = digest.readUInt8(digest.length - 1) & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

function stepOf(options: TotpOptions, call: string): number {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`${call}: the options must be an object, for example {}. Received: ${describeType(options)}.`);
  }
  const seconds = options.at === undefined ? Date.now() / 1000 : options.at;
  if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`${call}: the option at must be a number of seconds since the Unix epoch.`);
  }
  return Math.floor(seconds / STEP_SECONDS);
}

function requireSecret(secret: unknown, call: string): void {
  if (!types.isUint8Array(secret)) {
    throw new TypeError(
      `${call}: the secret must be bytes (a Uint8Array). Received: ${describeType(secret)}. Decode its base32 first.`,
    );
  }
  if (secret.byteLength === 0) throw new TypeError(`${call}: the secret is empty. Pass 20 random bytes.`);
}

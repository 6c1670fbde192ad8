import type { Config } from "../config/index.ts";
import { fillRandom, type RequestContext } from "../http/index.ts";
import { sessionId } from "./current-session.ts";
import { keysFor } from "./keys.ts";
import { cachePerConfig } from "./lru-cache.ts";
import { BASE64URL_ALPHABET, constantTimeEqual, decodeBase64Url, encodeBase64Url, hmacSha256 } from "./token.ts";

/** The length of a mask, and of the secret of a sign-in that it covers. 24 bytes cannot be guessed (192 bits). */
const SECRET_BYTES = 24;
/** The length of each of them in base64url, whose characters have six bits: no bits are left over. */
const SECRET_CHARS = (SECRET_BYTES * 4) / 3;
const TOKEN_CHARS = 2 * SECRET_CHARS;

interface SignInSecret {
  readonly bytes: Uint8Array;
  /** The same bits, six in each element, as base64url has them. */
  readonly sextets: Uint8Array;
}

/** The secret of each sign-in, by what it is bound to: computing it takes longer than all else in issuing a token. */
const signInSecrets = cachePerConfig<SignInSecret>();
/** The sign-in that each verified token was issued to, by token. `sid` is `null` for a signed-out client. */
const verifiedTokens = cachePerConfig<{ readonly sid: string | null }>();

/**
 * Returns a new CSRF token for the client of a request, bound to its current sign-in; `null` if `WEB_CSRF_SECRET` is not
 * set, since no token is required then.
 *
 * Each sign-in has a secret, an HMAC of its session id. The token is `base64url(mask ‖ (mask XOR secret))` with a new
 * random mask each time. No two pages contain the same token, so the size of a compressed page reveals nothing about
 * it (BREACH attack). It is valid as long as the sign-in.
 *
 * @see docs/protocol.md 8.3
 */
export function issueCsrfToken(context: RequestContext): string | null {
  if (!context.config.csrfSecret) return null;
  const { sextets } = signInSecret(context.config, sessionId(context));
  fillRandom(mask);
  // A character of base64url is six bits, so the XOR of two texts is made without their bytes.
  for (let i = 0; i < SECRET_CHARS; i++) {
    const sextet = (mask[i] ?? 0) & 0x3f;
    tokenChars[i] = ALPHABET[sextet] ?? 0;
    tokenChars[SECRET_CHARS + i] = ALPHABET[sextet ^ (sextets[i] ?? 0)] ?? 0;
  }
  return tokenChars.toString("latin1");
}

const ALPHABET = Buffer.from(BASE64URL_ALPHABET);
// Both buffers live as long as the process. Each token overwrites them.
const mask = new Uint8Array(SECRET_CHARS);
const tokenChars = Buffer.allocUnsafeSlow(TOKEN_CHARS);

/**
 * Returns whether a token was issued to the client of this request, in its current sign-in.
 *
 * When unsure, it returns `false`: for a token of another sign-in or client, a changed token, any value that is not a
 * string, and for every token if `WEB_CSRF_SECRET` is not set.
 *
 * @param token the `X-CSRF-Token` header, of any type, since it comes from the client
 * @see docs/protocol.md 8.3
 */
export function verifyCsrfToken(context: RequestContext, token: unknown): boolean {
  if (!context.config.csrfSecret || typeof token !== "string") return false;
  if (token.length !== TOKEN_CHARS) return false;
  const sid = sessionId(context);
  const cache = verifiedTokens(context.config);
  const cached = cache.get(token);
  if (cached !== undefined) return cached.sid === sid; // a token is bound to one sign-in only
  const isValid = covers(token, signInSecret(context.config, sid).bytes);
  if (isValid) cache.set(token, { sid });
  return isValid;
}

/** Returns whether a token is a mask and this secret under it. */
function covers(token: string, secret: Uint8Array): boolean {
  const bytes = decodeBase64Url(token);
  if (bytes === null) return false;
  const expected = Uint8Array.from(bytes);
  maskSecret(expected, secret);
  return constantTimeEqual(bytes, expected);
}

/** Returns the secret of a sign-in, or of all signed-out clients, which cannot be computed without the key. */
function signInSecret(config: Config, sid: string | null): SignInSecret {
  // The first character distinguishes signed out from signed in, so that no session id has the secret of "signed out".
  const binding = sid === null ? "\0" : `\x01${sid}`;
  const cache = signInSecrets(config);
  const cached = cache.get(binding);
  if (cached) return cached;
  const bytes = hmacSha256(keysFor(config, "csrf").sign, binding).subarray(0, SECRET_BYTES);
  const sextets = Uint8Array.from(encodeBase64Url(bytes), (char) => BASE64URL_ALPHABET.indexOf(char));
  const secret = { bytes, sextets };
  cache.set(binding, secret);
  return secret;
}

/** Writes a secret under the mask with which `bytes` begins, behind the mask. */
function maskSecret(bytes: Uint8Array, secret: Uint8Array): void {
  for (let i = 0; i < SECRET_BYTES; i++) bytes[SECRET_BYTES + i] = (bytes[i] ?? 0) ^ (secret[i] ?? 0);
}

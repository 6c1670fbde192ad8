import { type RequestContext, randomHex } from "../http/index.ts";
import { decodeBase64Url, encodeBase64Url } from "./base64url.ts";
import { sessionId } from "./current-session.ts";
import { keysFor } from "./keys.ts";
import { cachePerConfig } from "./lru-cache.ts";
import { constantTimeEqual, hmacSha256 } from "./token.ts";

const NONCE_BYTES = 16;
/** The length of a nonce and an HMAC of 32 bytes in base64url, in characters. */
const TOKEN_CHARS = ((NONCE_BYTES + 32) * 4) / 3;

/** The sign-in that each verified token was issued to, by token. `sid` is `null` for a signed-out client. */
const verifiedTokens = cachePerConfig<{ readonly sid: string | null }>();

/**
 * Returns a new CSRF token for the client of a request, bound to its current sign-in; `null` if `WEB_CSRF_SECRET` is not
 * set, since no token is required then.
 *
 * The token is `base64url(nonce ‖ HMAC-SHA256(nonce ‖ binding))` with a new nonce each time. No two pages contain the
 * same token, so the size of a compressed page reveals nothing about it (BREACH attack). It is valid as long as the
 * sign-in.
 *
 * @see docs/protocol.md 8.3
 */
export function issueCsrfToken(context: RequestContext): string | null {
  if (!context.config.csrfSecret) return null;
  const nonce = Buffer.from(randomHex(NONCE_BYTES), "hex");
  return encodeBase64Url(Buffer.concat([nonce, tokenMac(context, nonce)]));
}

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
  const isValid = isIssuedTo(context, token);
  if (isValid) cache.set(token, { sid });
  return isValid;
}

function isIssuedTo(context: RequestContext, token: string): boolean {
  const bytes = decodeBase64Url(token);
  if (bytes === null) return false;
  return constantTimeEqual(tokenMac(context, bytes.subarray(0, NONCE_BYTES)), bytes.subarray(NONCE_BYTES));
}

function tokenMac(context: RequestContext, nonce: Uint8Array): Buffer {
  const sid = sessionId(context);
  // The first byte distinguishes signed out from signed in, so that no session id can have the binding of "signed out".
  const binding = sid === null ? Buffer.of(0) : Buffer.concat([Buffer.of(1), Buffer.from(sid)]);
  return hmacSha256(keysFor(context.config, "csrf").sign, Buffer.concat([nonce, binding]));
}

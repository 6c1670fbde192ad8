import { randomBytes } from "node:crypto";
import type { RequestContext } from "../http/index.ts";
import { keysFor } from "./keys.ts";
import { recentOf } from "./lru-cache.ts";
import { sessionId } from "./session.ts";
import { constantTimeEqual, decodeBase64Url, encodeBase64Url, hmacSha256 } from "./token.ts";

const NONCE_BYTES = 16;
/** A nonce and an HMAC of 32 bytes, as base64url. */
const TOKEN_CHARS = ((NONCE_BYTES + 32) * 4) / 3;

/** Which sign-in tokens were issued to whose HMAC was right. */
const verified = recentOf<{ readonly sid: string | null }>();

/**
 * Issues a CSRF token for the visitor of a request, bound to the sign-in as it is now; `null` when
 * `WEB_CSRF_SECRET` is not set and no token is asked for.
 *
 * It is `base64url(nonce ‖ HMAC-SHA256(nonce ‖ session))` with another nonce each time: no two
 * pages carry the same string, so the size of a compressed page tells nothing of it (BREACH). It
 * lives as long as the sign-in it is bound to.
 */
export function issueCsrfToken(context: RequestContext): string | null {
  if (!context.config.csrfSecret) return null;
  const nonce = randomBytes(NONCE_BYTES);
  return encodeBase64Url(Buffer.concat([nonce, tokenMac(context, nonce)]));
}

/**
 * Answers whether a token was issued to this visitor, in this sign-in. One of another sign-in, of
 * another visitor, changed by a character, or no string at all is not; and where
 * `WEB_CSRF_SECRET` is not set, none is.
 *
 * @param token the `X-CSRF-Token` header, whatever it holds
 */
export function verifyCsrfToken(context: RequestContext, token: unknown): boolean {
  if (!context.config.csrfSecret || typeof token !== "string") return false;
  if (token.length !== TOKEN_CHARS) return false;
  const sid = sessionId(context);
  const remembered = verified(context.config);
  const known = remembered.get(token);
  if (known !== undefined) return known.sid === sid; // it is of one sign-in, and so of no other
  const isRight = isIssuedTo(context, token);
  if (isRight) remembered.set(token, { sid });
  return isRight;
}

function isIssuedTo(context: RequestContext, token: string): boolean {
  const bytes = decodeBase64Url(token);
  if (bytes === null) return false;
  return constantTimeEqual(tokenMac(context, bytes.subarray(0, NONCE_BYTES)), bytes.subarray(NONCE_BYTES));
}

function tokenMac(context: RequestContext, nonce: Uint8Array): Buffer {
  const sid = sessionId(context);
  // A byte tells signed out from signed in, so that no session id can pass for none.
  const bound = sid === null ? Buffer.of(0) : Buffer.concat([Buffer.of(1), Buffer.from(sid)]);
  return hmacSha256(keysFor(context.config, "csrf").sign, Buffer.concat([nonce, bound]));
}

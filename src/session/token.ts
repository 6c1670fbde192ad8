import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";

/** The longest token that is looked at: a cookie can hold no more, and work for strangers is bounded. */
export const MAX_TOKEN_CHARS = 4096;

/** Writes bytes, or a text's UTF-8, as base64url without padding. @see RFC 4648, section 5 */
export function encodeBase64Url(data: Uint8Array | string): string {
  const bytes =
    typeof data === "string" ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return bytes.toString("base64url");
}

/**
 * Reads base64url, and only as {@link encodeBase64Url} writes it; anything else is `null`.
 *
 * Padding, `+` and `/`, white space and set trailing bits are refused: two texts for the same
 * bytes would be two tokens where one was signed, and a list of spent tokens would miss the second.
 */
export function decodeBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : null;
}

/** Gives the HMAC-SHA256 of `data` (a text counts as its UTF-8): 32 bytes. */
export function hmacSha256(key: KeyObject, data: Uint8Array | string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

/** Compares bytes without telling, by its time, where they differ. Their length is not kept secret. */
export function constantTimeEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

/**
 * Signs a text: `base64url(text).base64url(HMAC-SHA256)`.
 *
 * The text is signed, not hidden: whoever holds the token can read it. What the token is for is
 * said by its key alone, so every purpose has its own.
 */
export function signToken(key: KeyObject, text: string): string {
  const payload = encodeBase64Url(text);
  return `${payload}.${encodeBase64Url(hmacSha256(key, payload))}`;
}

/**
 * Gives the text of a token that one of `keys` signed, and `null` for everything else, whatever it
 * is: a changed character anywhere is a refusal, and nothing is thrown.
 */
export function verifyToken(keys: readonly KeyObject[], token: unknown): string | null {
  if (typeof token !== "string" || token.length > MAX_TOKEN_CHARS) return null;
  const dot = token.indexOf(".");
  if (dot === -1) return null;
  const payload = token.slice(0, dot);
  const given = decodeBase64Url(token.slice(dot + 1));
  if (given === null || !keys.some((key) => constantTimeEqual(hmacSha256(key, payload), given))) return null;
  return decodeBase64Url(payload)?.toString("utf8") ?? null;
}

import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";

/** The maximum length of a token, in characters. It bounds the work for invalid tokens. @see docs/protocol.md 7.2 */
export const MAX_TOKEN_CHARS = 4096;

const SIGNATURE_BYTES = 32;

/** Returns the HMAC-SHA256 of bytes, or of the UTF-8 of a text: 32 bytes. */
export function hmacSha256(key: KeyObject, data: Uint8Array | string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

/**
 * Returns whether two byte arrays are equal. The time does not reveal where they differ, so a MAC cannot be guessed
 * byte by byte (timing attack). Their lengths are not secret.
 */
export function constantTimeEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

/**
 * Returns a signed token: `base64url(text).base64url(HMAC-SHA256)`.
 *
 * The text is signed, not encrypted: the holder of the token can read it. The token does not state its purpose. Only its
 * key does, so each purpose needs its own key.
 *
 * @see docs/protocol.md 7.2
 */
export function signToken(key: KeyObject, text: string): string {
  const payload = encodeBase64Url(text);
  return `${payload}.${encodeBase64Url(hmacSha256(key, payload))}`;
}

/**
 * Returns the text of a token that one of `keys` has signed; `null` for every other value. It never throws.
 *
 * When unsure, the token is refused: it must be canonical base64url, and any changed character makes it invalid.
 *
 * @param token of any type, since it comes from the client
 * @see docs/protocol.md 7.2
 */
export function verifyToken(keys: readonly KeyObject[], token: unknown): string | null {
  if (typeof token !== "string" || token.length > MAX_TOKEN_CHARS) return null;
  const dot = token.indexOf(".");
  if (dot === -1) return null;
  const payload = token.slice(0, dot);
  const signature = decodeBase64Url(token.slice(dot + 1));
  if (signature === null || !keys.some((key) => constantTimeEqual(hmacSha256(key, payload), signature))) return null;
  return decodeBase64Url(payload)?.toString("utf8") ?? null;
}

/**
 * Returns the text of a token without verifying its signature, to describe a token that was refused; `null` if it is not one.
 * Nothing else may depend on the text, because any client can write it.
 */
export function readUnverifiedText(token: string): string | null {
  const [payload = "", signature = "", ...rest] = token.length > MAX_TOKEN_CHARS ? [] : token.split(".");
  if (rest.length > 0 || decodeBase64Url(signature)?.byteLength !== SIGNATURE_BYTES) return null;
  return decodeBase64Url(payload)?.toString("utf8") ?? null;
}

/** The characters of base64url, in the order of their values. @see RFC 4648, section 5 */
export const BASE64URL_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Returns bytes, or the UTF-8 of a text, as base64url without padding. @see RFC 4648, section 5 */
export function encodeBase64Url(data: Uint8Array | string): string {
  const bytes =
    typeof data === "string" ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return bytes.toString("base64url");
}

/**
 * Returns the bytes of a base64url text; `null` unless the text is exactly what {@link encodeBase64Url} returns for them.
 *
 * Padding, `+`, `/`, whitespace and unused bits that are set are refused. Otherwise two texts would be the same token,
 * and a list of spent tokens would miss the second spelling.
 *
 * @see docs/protocol.md 1.1
 */
export function decodeBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : null;
}

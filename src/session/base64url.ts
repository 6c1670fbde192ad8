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

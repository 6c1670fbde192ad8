import crypto, { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { decodeBase64Url, encodeBase64Url } from "./base64url.ts";

/** The maximum length of a token, in characters. It bounds the work for invalid tokens. @see docs/protocol.md 7.2 */
export const MAX_TOKEN_CHARS = 4096;

const SIGNATURE_BYTES = 32;

/** The size of a block of SHA-256, in bytes. */
const BLOCK_BYTES = 64;

/** The size up to which data is signed with {@link hashTwice}, in bytes. */
const SHORT_BYTES = 256;

/** The blocks before the inner and the outer message of a key, each in front of the place for its message. */
interface Pads {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

// Computed once for each key, and released together with it. The places for messages are written for each MAC.
const padsByKey = new WeakMap<KeyObject, Pads>();

/** Returns the HMAC-SHA256 of bytes, or of the UTF-8 of a text: 32 bytes. */
export function hmacSha256(key: KeyObject, data: Uint8Array | string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

/** Returns the HMAC-SHA256 of bytes, as {@link hmacSha256} does: faster for short ones. */
export function shortHmacSha256(key: KeyObject, data: Uint8Array): Buffer {
  // The function `hash` is one of Node; other runtimes may not have it.
  if (typeof crypto.hash !== "function" || data.length > SHORT_BYTES) return hmacSha256(key, data);
  return hashTwice(padsOf(key), data);
}

/**
 * Returns an HMAC by its definition: H(K ⊕ opad ‖ H(K ⊕ ipad ‖ data)). Two hashes without objects of Node's streams take a third
 * of the time of `createHmac()`. Each page with a view has a token with a MAC.
 *
 * @see RFC 2104, section 2
 */
function hashTwice({ inner, outer }: Pads, data: Uint8Array): Buffer {
  inner.set(data, BLOCK_BYTES);
  outer.write(crypto.hash("sha256", inner.subarray(0, BLOCK_BYTES + data.length), "binary"), BLOCK_BYTES, "binary");
  return Buffer.from(crypto.hash("sha256", outer, "binary"), "binary");
}

function padsOf(key: KeyObject): Pads {
  const existing = padsByKey.get(key);
  if (existing) return existing;
  const secret = key.export();
  // RFC 2104: a key that is longer than a block is hashed first.
  const bytes = secret.length > BLOCK_BYTES ? crypto.hash("sha256", secret, "buffer") : secret;
  const pad = (byte: number, size: number) => {
    const block = Buffer.alloc(BLOCK_BYTES + size);
    for (let i = 0; i < BLOCK_BYTES; i++) block[i] = (bytes[i] ?? 0) ^ byte;
    return block;
  };
  const pads = { inner: pad(0x36, SHORT_BYTES), outer: pad(0x5c, SIGNATURE_BYTES) };
  padsByKey.set(key, pads);
  return pads;
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

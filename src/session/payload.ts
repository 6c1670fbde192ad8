import { randomBytes } from "node:crypto";
import { encodeBase64Url } from "./base64url.ts";
import { checkClaims, type Json } from "./claims.ts";

/** The lifetime of a session, in seconds: 7 days. @see docs/protocol.md 7.5 */
export const MAX_AGE_SECONDS = 7 * 24 * 60 * 60;

/** The maximum by which the clock of another server may be ahead, in seconds. @see docs/protocol.md 7.4 */
const CLOCK_SKEW_SECONDS = 60;

/** The content of a session token whose signature was verified. */
export interface VerifiedSession {
  /** `{ sub, ...claims }`, deeply frozen. */
  readonly user: Readonly<Record<string, Json>> & { readonly sub: string };
  /** The random id of the sign-in. CSRF tokens and feeds are bound to it. */
  readonly sid: string;
  /** The expiry, in seconds since the Unix epoch. */
  readonly exp: number;
}

/**
 * Returns the payload of a new session as JSON: `{ sub, ...claims, sid, iat, exp }`. Each call creates a new random
 * `sid`, so nothing that was bound to an earlier sign-in is valid for the new one.
 *
 * @param nowSeconds the current time in seconds since the Unix epoch
 * @throws TypeError if `sub` is not a non-empty string, or if JSON cannot represent the claims
 * @see docs/protocol.md 7.3
 */
export function createPayload(sub: unknown, claims: unknown, nowSeconds: number): string {
  if (typeof sub !== "string" || sub === "") {
    const received = sub === "" ? "an empty string" : sub === null ? "null" : typeof sub;
    throw new TypeError(
      `session.login: the user id must be a non-empty string. Received: ${received}. Convert a number with String(id).`,
    );
  }
  checkClaims(claims);
  const iat = Math.floor(nowSeconds);
  const sid = encodeBase64Url(randomBytes(16));
  return JSON.stringify({ sub, ...claims, sid, iat, exp: iat + MAX_AGE_SECONDS });
}

/**
 * Returns the session of a payload whose signature was verified; `null` if the payload is malformed or not valid now.
 *
 * Only the signed times are checked. The `Max-Age` of the cookie does not bind the thief of a cookie. When unsure, the
 * session is refused: an issue time in the future, or a lifetime over 7 days, was not written by tsweb.
 *
 * @param nowSeconds the current time in seconds since the Unix epoch
 * @see docs/protocol.md 7.4
 */
export function parsePayload(text: string, nowSeconds: number): VerifiedSession | null {
  const payload = parseObject(text);
  if (!payload || Object.hasOwn(payload, "__proto__")) return null;
  const { sid, iat, exp, ...user } = payload;
  const { sub } = user;
  if (!isNonEmptyString(sub) || !isNonEmptyString(sid)) return null;
  if (!isWholeSeconds(iat) || !isWholeSeconds(exp)) return null;
  if (iat > nowSeconds + CLOCK_SKEW_SECONDS || exp > iat + MAX_AGE_SECONDS) return null;
  if (isExpired({ exp }, nowSeconds)) return null;
  return { user: deepFreeze({ ...user, sub }), sid, exp };
}

/** Returns whether a session has expired. It is valid until just before `exp`. */
export function isExpired({ exp }: Pick<VerifiedSession, "exp">, nowSeconds: number): boolean {
  return nowSeconds >= exp;
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isWholeSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function parseObject(text: string): Record<string, Json> | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    return value as Record<string, Json>; // JSON.parse returns JSON values only
  } catch {
    return null;
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) deepFreeze(item);
    Object.freeze(value);
  }
  return value;
}

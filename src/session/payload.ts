import { randomBytes } from "node:crypto";
import { checkClaims, type Json } from "./claims.ts";
import { encodeBase64Url } from "./token.ts";

/** How long a session lives, in seconds: 7 days. @see the interface, "Limits" */
export const MAX_AGE_SECONDS = 7 * 24 * 60 * 60;

/** How far another server's clock may be ahead of ours, in seconds. */
const CLOCK_SKEW_SECONDS = 60;

/** A session that is open: who, and which sign-in. */
export interface OpenSession {
  /** `{ sub, ...claims }`, frozen through and through. */
  readonly user: Readonly<Record<string, Json>> & { readonly sub: string };
  /** Random for each sign-in; what CSRF tokens and feeds are bound to. */
  readonly sid: string;
  /** When it is over, in seconds since the epoch. */
  readonly exp: number;
}

/**
 * Writes the payload of a new session: `{ sub, ...claims, sid, iat, exp }`, times in seconds since
 * the epoch. Every call makes another `sid`, so nothing that was bound to an earlier sign-in holds.
 *
 * @throws TypeError for a `sub` that is not a non-empty string, or claims that cannot be kept
 */
export function writePayload(sub: unknown, claims: unknown, nowSeconds: number): string {
  if (typeof sub !== "string" || sub === "") {
    throw new TypeError("session.login: the user id must be a non-empty string; of a number, give String(id).");
  }
  checkClaims(claims);
  const iat = Math.floor(nowSeconds);
  const sid = encodeBase64Url(randomBytes(16));
  return JSON.stringify({ sub, ...claims, sid, iat, exp: iat + MAX_AGE_SECONDS });
}

/**
 * Reads the payload of a session whose signature has been verified; `null` when it is not one, or
 * not for now. Expiry is decided here, not by the cookie's own age, which a thief would not keep.
 */
export function readPayload(text: string, nowSeconds: number): OpenSession | null {
  const payload = parseObject(text);
  if (!payload || Object.hasOwn(payload, "__proto__")) return null;
  const { sid, iat, exp, ...user } = payload;
  const { sub } = user;
  if (typeof sub !== "string" || sub === "") return null;
  if (typeof sid !== "string" || sid === "") return null;
  if (!isSeconds(iat) || !isSeconds(exp)) return null;
  // A payload from the future, or one that outlives its seven days, is not one that we wrote.
  if (iat > nowSeconds + CLOCK_SKEW_SECONDS || exp > iat + MAX_AGE_SECONDS) return null;
  if (nowSeconds >= exp) return null;
  return { user: freeze({ ...user, sub }), sid, exp };
}

function isSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function parseObject(text: string): Record<string, Json> | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    return value as Record<string, Json>; // an object that JSON.parse made holds nothing but JSON
  } catch {
    return null;
  }
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) freeze(item);
    Object.freeze(value);
  }
  return value;
}

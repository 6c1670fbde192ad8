import { randomBytes } from "node:crypto";
import type { Logger } from "../logging/index.ts";
import {
  type CheckedSession,
  type LogPosition,
  parseLogPosition,
  subjectOfSignIn,
  subjectOfUser,
} from "../revocation/index.ts";
import { checkClaims, checkUserId, type Json } from "./claims.ts";
import { encodeBase64Url } from "./token.ts";

/** The lifetime of a session, in seconds: 7 days. @see docs/protocol.md 7.5 */
export const MAX_AGE_SECONDS = 7 * 24 * 60 * 60;

/** The content of a session token whose signature was verified, or the answer of `authenticate` for a bearer token. */
export class VerifiedSession implements CheckedSession {
  /** `{ sub, ...claims }`, deeply frozen. */
  readonly user: Readonly<Record<string, Json>> & { readonly sub: string };
  /** The random id of the sign-in, or that of the bearer token. CSRF tokens and feeds are bound to it. */
  readonly sid: string;
  /** The time of the sign-in, in seconds since the Unix epoch. */
  readonly iat: number;
  /** The expiry, in seconds since the Unix epoch; infinite for a bearer token. */
  readonly exp: number;
  /** The position of the revocation log at the sign-in; `null` if the cookie names none. */
  readonly position: LogPosition | null;
  readonly isBearer: boolean;
  #subjects: CheckedSession["subjects"] | undefined;

  constructor({ user, sid, iat, exp, position, isBearer }: Omit<VerifiedSession, "subjects">) {
    this.user = user;
    this.sid = sid;
    this.iat = iat;
    this.exp = exp;
    this.position = position;
    this.isBearer = isBearer;
  }

  get subjects(): CheckedSession["subjects"] {
    this.#subjects ??= { user: subjectOfUser(this.user.sub), signIn: subjectOfSignIn(this.sid) };
    return this.#subjects;
  }
}

/** The values of a new session besides the user id and the claims. */
export interface PayloadOptions {
  /** The current time in seconds since the Unix epoch. */
  readonly nowSeconds: number;
  /** The position of the revocation log; `null` if nothing can be revoked. */
  readonly position?: string | null;
}

/**
 * Returns the payload of a new session as JSON: `{ sub, ...claims, sid, iat, exp, rev_pos }`. Each call creates a new
 * random `sid`, so nothing that was bound to an earlier sign-in is valid for the new one.
 *
 * @throws TypeError if `sub` is not a non-empty string, or if JSON cannot represent the claims
 * @see docs/protocol.md 7.3
 */
export function createPayload(sub: unknown, claims: unknown, { nowSeconds, position }: PayloadOptions): string {
  checkUserId(sub, "session.login");
  checkClaims(claims, "session.login");
  const iat = Math.floor(nowSeconds);
  const sid = encodeBase64Url(randomBytes(16));
  const rev_pos = position ?? undefined; // JSON omits it
  return JSON.stringify({ sub, ...claims, sid, iat, exp: iat + MAX_AGE_SECONDS, rev_pos });
}

/**
 * Returns the session of a payload whose signature was verified; `null` if the payload is malformed or not valid now.
 *
 * Only the signed times are checked. The `Max-Age` of the cookie does not bind the thief of a cookie. When unsure, the
 * session is refused: an issue time in the future, or a lifetime over 7 days, was not written by tsweb.
 *
 * @param nowSeconds the current time in seconds since the Unix epoch
 * @param onIssuedInFuture called if only the issue time is why it is refused, with the seconds
 * @see docs/protocol.md 7.4
 */
export function parsePayload(
  text: string,
  nowSeconds: number,
  onIssuedInFuture?: (seconds: number) => void,
): VerifiedSession | null {
  const payload = parseObject(text);
  if (!payload || Object.hasOwn(payload, "__proto__")) return null;
  const { sid, iat, exp, rev_pos, ...user } = payload;
  if (!hasSub(user) || !isNonEmptyString(sid)) return null;
  if (!isWholeSeconds(iat) || !isWholeSeconds(exp)) return null;
  if (exp > iat + MAX_AGE_SECONDS || isExpired({ exp }, nowSeconds)) return null;
  if (iat > nowSeconds + CLOCK_SKEW_SECONDS) {
    onIssuedInFuture?.(iat - nowSeconds);
    return null;
  }
  return new VerifiedSession({
    // Not `{ ...user, sub }`: in Node 20, each frozen copy gets a hidden class of its own.
    user: deepFreeze(user),
    sid,
    iat,
    exp,
    position: parseLogPosition(rev_pos),
    isBearer: false,
  });
}

/** Returns whether a session has expired. It is valid until just before `exp`. */
export function isExpired({ exp }: Pick<VerifiedSession, "exp">, nowSeconds: number): boolean {
  return nowSeconds >= exp;
}

function hasSub(claims: Record<string, Json>): claims is Record<string, Json> & { sub: string } {
  return isNonEmptyString(claims.sub);
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

/** Freezes a value and all that it contains. Returns the value. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) deepFreeze(item);
    Object.freeze(value);
  }
  return value;
}

/** The maximum by which the clock of another server may be ahead, in seconds. @see docs/protocol.md 7.4 */
const CLOCK_SKEW_SECONDS = 60;

/** The minimum interval between two log lines. */
const LOG_INTERVAL_MS = 60_000;

/** Logs that sessions are refused because the clocks of the servers differ: at most once a minute. */
export class ClockSkewLog {
  readonly #log: Logger;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Records a session that is refused because it was issued in the future.
   *
   * @param seconds by how much, according to the clock of this server
   */
  report(seconds: number): void {
    const now = performance.now();
    if (now - this.#loggedAtMs < LOG_INTERVAL_MS) return;
    this.#loggedAtMs = now;
    const difference = Math.round(seconds);
    this.#log.warn(
      { seconds: difference },
      `The clocks of the servers differ: a session was issued ${difference} s in the future, and is refused until then. ` +
        `At most ${CLOCK_SKEW_SECONDS} s are accepted. Synchronize the clocks, for example with chrony or ` +
        "systemd-timesyncd",
    );
  }
}

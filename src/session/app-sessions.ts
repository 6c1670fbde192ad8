import {
  ContextKey,
  currentContext,
  RequestContext,
  RequestError,
  refuseEffect,
  runOutsideRequests,
} from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import {
  formatLogPosition,
  RevocationLog,
  type RevocationSource,
  subjectOfSignIn,
  subjectOfUser,
} from "../revocation/index.ts";
import { ClockSkewLog, isExpired, type VerifiedSession } from "./payload.ts";

/** The options of {@link AppSessions}. */
export interface AppSessionsOptions {
  /** Returns where revocations are stored. */
  revocations(): RevocationSource;
  readonly log: AppLog;
}

/** A request whose response goes on: a stream, an event stream, or a poll. */
interface OpenRequest {
  /** The request, which may still sign in; or its session, if that is final. */
  readonly of: RequestContext | VerifiedSession;
  readonly onEnded: () => void;
}

/** The sessions of the application of a request. */
export const SESSIONS = new ContextKey<AppSessions>();

/** The session that a request has read or issued, and `null` if the client is signed out. Absent until it is first read. */
export const SESSION = ContextKey.ofCookies<VerifiedSession | null>();

/** The maximum time to the next check for expired sessions: the clock may be adjusted meanwhile. */
const EXPIRY_CHECK_MS = 60_000;

/** The sessions of one application: which of them were revoked, and which open requests end with them. */
export class AppSessions {
  readonly revocations: RevocationLog;
  readonly clockSkew: ClockSkewLog;
  /** Called with the id of a sign-in whose client was signed out, or signed in again, by a response. */
  onSignedOut: ((sid: string) => void) | undefined;
  readonly #log: AppLog;
  readonly #openRequests = new Set<OpenRequest>();
  #expiryTimer: NodeJS.Timeout | undefined;
  /** When the timer fires, by `performance.now`. */
  #expiryCheckAtMs = Number.POSITIVE_INFINITY;

  constructor({ revocations, log }: AppSessionsOptions) {
    this.revocations = new RevocationLog({ source: revocations, log, onRevoked: () => this.#endInvalid() });
    this.clockSkew = new ClockSkewLog(log);
    this.#log = log;
  }

  /**
   * Returns whether a session, which is valid otherwise, was not revoked.
   *
   * @throws RequestError 503 before the revocations were read: neither answer would be right. The cookie is kept.
   */
  accepts(session: VerifiedSession, context: RequestContext): boolean {
    if (!session.isBearer) this.#requireLoaded(context); // that of a bearer token was decided by `authenticate`
    return !this.revocations.isRevoked(session);
  }

  /**
   * Returns the member `rev_pos` of a session that a request issues: the position when the request began or, if it has revoked
   * sessions itself, after that; `null` if nothing can be revoked. A request may have read a password or a session of before a
   * revocation: what it issues is of before it, too.
   *
   * @throws RequestError 503 before the revocations were read: the session could be refused as one of before
   */
  positionFor(context: RequestContext): string | null {
    this.#requireLoaded(context);
    const position = this.revocations.positionAt(Math.max(context.revocationOrder, context.ownRevocationOrder));
    return position && formatLogPosition(position);
  }

  /**
   * Revokes the sessions of a subject. The current request can then sign in, unless its session was revoked before.
   *
   * @throws Error as {@link RevocationLog.revoke}
   */
  async revoke(subject: string): Promise<void> {
    refuseEffect("session.revoke()");
    const context = currentContext();
    const isOwn = context?.get(SESSIONS) === this;
    const session = isOwn ? storedSession(context) : null;
    const hasEnded = session !== null && this.revocations.isRevoked(session) && context?.ownRevocationOrder === 0;
    try {
      await this.revocations.revoke(subject);
    } finally {
      if (isOwn && !hasEnded) context.ownRevocationOrder = this.revocations.order;
    }
  }

  /**
   * Logs that the session of a request was refused because its signature is of no secret of this process. Not in development,
   * where the cookies of all applications on localhost are sent to each of them.
   */
  refuseSecret({ id, config }: RequestContext): void {
    if (config.production) this.#log.refused("unknown_secret", { id }, UNKNOWN_SECRET);
  }

  /** Calls `onEnded` once when the session of an open request is revoked or expires. Returns a function that ends this. */
  watch(openRequest: OpenRequest): () => void {
    this.#openRequests.add(openRequest);
    const session = sessionOf(openRequest);
    if (session) this.#checkExpiry(session);
    return () => {
      this.#openRequests.delete(openRequest);
      if (this.#openRequests.size === 0) this.#stopExpiryTimer();
    };
  }

  /** Records a sign-in. It may be that of an open request. */
  signedIn(session: VerifiedSession): void {
    if (this.#openRequests.size > 0) this.#checkExpiry(session);
  }

  /** Records that a request replaces a session, or removes it. It has no effect if the request fails. */
  replaces({ sid }: VerifiedSession, context: RequestContext): void {
    context.onBodyReleased(() => {
      const current = context.get(SESSION);
      if (current !== undefined && current?.sid !== sid) this.onSignedOut?.(sid);
    });
  }

  #endInvalid(): void {
    const now = Date.now() / 1000;
    for (const openRequest of [...this.#openRequests]) {
      const session = sessionOf(openRequest);
      if (!session || !(isExpired(session, now) || this.revocations.isRevoked(session))) continue;
      this.#openRequests.delete(openRequest);
      openRequest.onEnded();
    }
  }

  /** Checks all open requests when a session expires, or earlier. There is one timer for all of them. */
  #checkExpiry({ exp }: VerifiedSession): void {
    const waitMs = Math.min(Math.max(exp * 1000 - Date.now(), 1), EXPIRY_CHECK_MS);
    const atMs = performance.now() + waitMs;
    if (atMs >= this.#expiryCheckAtMs) return;
    this.#stopExpiryTimer();
    this.#expiryCheckAtMs = atMs;
    this.#expiryTimer = runOutsideRequests(() => setTimeout(() => this.#onExpiryTimer(), waitMs).unref());
  }

  #stopExpiryTimer(): void {
    clearTimeout(this.#expiryTimer);
    this.#expiryCheckAtMs = Number.POSITIVE_INFINITY;
  }

  #onExpiryTimer(): void {
    this.#stopExpiryTimer();
    this.#endInvalid();
    let first: VerifiedSession | null = null;
    for (const openRequest of this.#openRequests) {
      const session = sessionOf(openRequest);
      if (session && session.exp < (first?.exp ?? Number.POSITIVE_INFINITY)) first = session;
    }
    if (first) this.#checkExpiry(first);
  }

  #requireLoaded(context: RequestContext): void {
    if (this.revocations.isLoaded) return;
    context.unavailable = new RequestError(
      "internal",
      "Sessions cannot be checked yet. Please try again in a moment.",
      {
        status: 503,
        headers: { "retry-after": "2" },
      },
    );
    throw context.unavailable;
  }
}

const UNKNOWN_SECRET =
  "A session was refused: its signature is of none of the secrets of this process. If other processes sign with another " +
  "WEB_AUTH_SECRET, restart this one with it, as docs/production.md describes (Changing the secret). If they have another " +
  "WEB_REALM, or another name in package.json, set one WEB_REALM for all. Otherwise the secret was replaced, or the " +
  "cookie is one of another application or was forged.";

function sessionOf({ of }: OpenRequest): VerifiedSession | null {
  return of instanceof RequestContext ? storedSession(of) : of;
}

/** Returns the session that a request has read or issued. It was valid when the request began, or when it was issued. */
export function storedSession(context: RequestContext): VerifiedSession | null {
  return context.get(SESSION) ?? null;
}

/** Returns the sessions of the application of a request; `undefined` without an application. */
export function sessionsOf(context: RequestContext): AppSessions | undefined {
  return context.get(SESSIONS);
}

/** Whom `session.revoke` signs out: a user by the id of `session.login`, or one sign-in by its `session.sid`. */
export type RevokedUser = string | { readonly sid: string };

/**
 * Returns the subject of a revocation.
 *
 * @throws TypeError if it is neither a user id nor a sign-in: nobody would be signed out
 */
export function subjectOf(who: unknown): string {
  if (typeof who === "string" && who !== "") return subjectOfUser(who);
  if (typeof who === "object" && who !== null) {
    const { sid, ...others } = who as { readonly sid?: unknown }; // any object can be read like this
    if (typeof sid === "string" && sid !== "" && Object.keys(others).length === 0) return subjectOfSignIn(sid);
  }
  throw new TypeError(
    `session.revoke: expected a user id or { sid }. Received: ${describe(who)}. Pass the user id of session.login to ` +
      "end all sign-ins of a user, or { sid } with a session.sid to end one.",
  );
}

function describe(value: unknown): string {
  if (value === "") return "an empty string";
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  return `an object with the members ${JSON.stringify(Object.keys(value))}`;
}

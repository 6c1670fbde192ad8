import { createHash } from "node:crypto";
import type { RequestContext } from "../http/index.ts";
import { FEED_TAG_BYTES } from "../protocol/index.ts";
import { SESSION, sessionsOf, storedSession } from "./app-sessions.ts";
import { bearerIdentity } from "./bearer.ts";
import { findCookie } from "./cookie.ts";
import { keysFor } from "./keys.ts";
import { cachePerConfig } from "./lru-cache.ts";
import { isExpired, parsePayload, type VerifiedSession } from "./payload.ts";
import { readUnverifiedText, verifyToken } from "./token.ts";

/** The sessions of cookies whose signature was verified, by token. */
const verifiedSessions = cachePerConfig<VerifiedSession>();

/** Returns the current time in seconds since the Unix epoch. */
export function nowSeconds(): number {
  return Date.now() / 1000;
}

/**
 * Returns the session of a request that is valid now, or `null` if the client is signed out.
 *
 * The expiry and the revocation are checked on every call, except in the turn of the event loop in which the request began and
 * both were checked already: a body, a function or a stream may outlive the session that it started with.
 *
 * @throws RequestError 503 if the client has a session, and the revocations were not read yet
 * @see docs/protocol.md 7.4
 */
export function currentSession(context: RequestContext): VerifiedSession | null {
  let session = context.get(SESSION);
  if (session === undefined) {
    session = context.isBearer ? (bearerIdentity(context)?.session ?? null) : readSession(context);
    context.set(SESSION, session);
  }
  // It was valid when the request began, or when the first byte of the page was sent.
  if (session === null || context.isInFirstTurn || context.isSessionKept) return session;
  if (isExpired(session, nowSeconds())) return null;
  return sessionsOf(context)?.accepts(session, context) === false ? null : session;
}

/**
 * Keeps the session of a request as it is now, for the parts of a page that are sent after it: they show the user of the rest of
 * the page. Without effect while the revocations were not read yet.
 */
export function keepSession(context: RequestContext): void {
  if (!sessionsOf(context)?.revocations.isLoaded) return;
  context.set(SESSION, currentSession(context));
  context.isSessionKept = true;
}

/**
 * Returns the id of the sign-in, to which CSRF tokens and feeds are bound; `null` if the client is signed out. A
 * sign-in during the request takes effect at once.
 */
export function sessionId(context: RequestContext): string | null {
  return currentSession(context)?.sid ?? null;
}

/**
 * Returns the tag of a sign-in in base64url: a part of the hash of its id, from which the id cannot be computed. The tokens of
 * live updates and the page data have it.
 *
 * @see docs/protocol.md 10.2
 */
export function sessionTag(sid: string): string {
  return createHash("sha256").update(sid).digest().subarray(0, FEED_TAG_BYTES).toString("base64url");
}

/**
 * Returns the tag of the client's sign-in in base64url; `null` if the client is signed out, and before the revocations were
 * read: a page needs it only to find the other tabs of its sign-in.
 */
export function pageTag(context: RequestContext): string | null {
  return sessionsOf(context)?.revocations.isLoaded ? currentTag(context) : null;
}

/**
 * Returns the tag of the client's sign-in in base64url; `null` if the client is signed out.
 *
 * @throws RequestError 503 if the client has a session, and the revocations were not read yet
 */
export function currentTag(context: RequestContext): string | null {
  const sid = sessionId(context);
  return sid === null ? null : sessionTag(sid);
}

/**
 * Returns the user whom a call counts for, as a hash of the user id; `null` for a signed-out client. A client counts as signed
 * out with a cookie that is forged, expired, revoked or signed with an unknown secret, and with any cookie before the revocations
 * were read: nobody can use the allowance of another user.
 *
 * @see docs/protocol.md 9.1
 */
export function countedUser(context: RequestContext): string | null {
  if (!sessionsOf(context)?.revocations.isLoaded) return null;
  return currentSession(context)?.subjects.user ?? null;
}

/**
 * Returns whether the client was signed in when the request began, or has signed in since, and this session has been
 * revoked or has expired in the meantime. A client whose cookie was refused from the start is signed out, and so is one
 * that the request itself has signed out: both return `false`.
 *
 * @throws RequestError 503 if the client has a session, and the revocations were not read yet
 */
export function hasSessionEnded(context: RequestContext): boolean {
  return currentSession(context) === null && storedSession(context) !== null;
}

/**
 * Returns whether the cookie of a request is that of a session that was revoked or has expired. When unsure, it returns
 * `false`: if nothing has read the session, and for a cookie that another secret has signed, which another process may accept.
 */
export function sendsEndedSession(context: RequestContext): boolean {
  if (context.isBearer || context.get(SESSION) === undefined || context.unavailable || currentSession(context) !== null)
    return false;
  const token = sessionToken(context);
  return token !== null && verifiedSessions(context.config).get(token) !== undefined;
}

/**
 * Calls `onEnded` once when the sign-in of a request is revoked or expires, also one that the request itself makes. For
 * responses that go on: streams and live connections.
 *
 * @returns a function that ends this; call it when the response has ended
 * @throws RequestError 503 if the client has a session, and the revocations were not read yet
 */
export function watchSession(context: RequestContext, onEnded: () => void): () => void {
  currentSession(context); // reads it
  const sessions = sessionsOf(context);
  if (!sessions) return notWatched;
  const identity = bearerIdentity(context);
  if (!identity) return sessions.watch({ of: context, onEnded });
  const end = () => {
    unwatch();
    onEnded();
  };
  const stops = [sessions.watch({ of: context, onEnded: end }), identity.watch(end)];
  const unwatch = () => {
    for (const stop of stops) stop();
  };
  return unwatch;
}

/**
 * Does the same as {@link watchSession} for a response whose request can no longer sign in: no code of the application runs
 * in it. It keeps the session only, instead of the request with its URL and headers, and nothing for a signed-out client.
 *
 * @throws RequestError 503 if the client has a session, and the revocations were not read yet
 */
export function watchFinalSession(context: RequestContext, onEnded: () => void): () => void {
  return finalSessionWatcher(context)(onEnded);
}

/**
 * Returns the session of a request that can no longer sign in, and whether it is still valid: neither expired nor revoked. It keeps the
 * session only, as {@link watchFinalSession}. A signed-out client stays valid.
 *
 * @throws RequestError 503 if the client has a session, and the revocations were not read yet
 */
export function finalSession(context: RequestContext): {
  readonly session: VerifiedSession | null;
  readonly isValid: () => boolean;
} {
  const session = currentSession(context);
  const revocations = sessionsOf(context)?.revocations;
  if (session === null) return { session, isValid: () => true };
  return { session, isValid: () => !isExpired(session, nowSeconds()) && revocations?.isRevoked(session) !== true };
}

/** Returns {@link watchFinalSession} of a request as a function that can be called later, and several times. */
export function finalSessionWatcher(context: RequestContext): (onEnded: () => void) => () => void {
  // The question to `authenticate` needs the request. No other function may keep it.
  return context.isBearer ? watchSession.bind(null, context) : watcherOf(currentSession(context), sessionsOf(context));
}

function watcherOf(
  session: VerifiedSession | null,
  sessions: ReturnType<typeof sessionsOf>,
): (onEnded: () => void) => () => void {
  return (onEnded) => (session && sessions ? sessions.watch({ of: session, onEnded }) : notWatched);
}

/** One function for all signed-out clients: each response that goes on keeps it until its end. */
const notWatched = () => undefined;

/**
 * Returns the session of the request's cookie if it was valid when the request began. An invalid cookie is not an error: the
 * client is signed out.
 */
function readSession(context: RequestContext): VerifiedSession | null {
  const session = verifyCookie(context);
  if (session === null || isExpired(session, startSeconds(context))) return null;
  return sessionsOf(context)?.revocations.wasRevoked(session, context.revocationOrder) ? null : session;
}

function startSeconds({ startedAtMs }: RequestContext): number {
  return startedAtMs / 1000;
}

/** Returns the session of the request's cookie if its signature and its content are valid. It may be revoked or expired. */
function verifyCookie(context: RequestContext): VerifiedSession | null {
  const { config } = context;
  const token = sessionToken(context);
  if (token === null) return null;
  const cache = verifiedSessions(config);
  const cached = cache.get(token);
  if (cached) return cached;
  const text = verifyToken(keysFor(config, "session").verify, token);
  if (text === null) {
    if (isOfUnknownSecret(token)) sessionsOf(context)?.refuseSecret(context);
    return null;
  }
  const session = parsePayload(text, startSeconds(context), (seconds) =>
    sessionsOf(context)?.clockSkew.report(seconds),
  );
  if (session) cache.set(token, session);
  return session;
}

function sessionToken({ config, inbound }: RequestContext): string | null {
  return findCookie(inbound.header("cookie"), config.sessionCookie);
}

/**
 * Returns whether a token that no secret of this process has signed has the content of a session that is valid now: another
 * process may have signed it with a secret that this one lacks. For the log only: any client can write such a token.
 */
function isOfUnknownSecret(token: string): boolean {
  const text = readUnverifiedText(token);
  return text !== null && parsePayload(text, nowSeconds()) !== null;
}

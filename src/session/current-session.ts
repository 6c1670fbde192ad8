import { type RequestContext, sessionCookieName } from "../http/index.ts";
import { sessionsOf, storedSession } from "./app-sessions.ts";
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
 * Returns the valid session of a request, or `null` if the client is signed out.
 *
 * The expiry and the revocation are checked on every call: a stream may outlive the session that it started with, and a
 * cached session may have expired since it was verified.
 *
 * @throws RequestError 503 if the client has a session, and the revocations were not read yet
 * @see docs/protocol.md 7.4
 */
export function currentSession(context: RequestContext): VerifiedSession | null {
  // Only this module and session.ts set `context.session`, to a VerifiedSession or null.
  const session = context.session === undefined ? readSession(context) : (context.session as VerifiedSession | null);
  context.session = session;
  if (session === null || isExpired(session, nowSeconds())) return null;
  return sessionsOf(context)?.accepts(session, context) === false ? null : session;
}

/**
 * Returns the id of the sign-in, to which CSRF tokens and feeds are bound; `null` if the client is signed out. A
 * sign-in during the request takes effect at once.
 */
export function sessionId(context: RequestContext): string | null {
  return currentSession(context)?.sid ?? null;
}

/**
 * Calls `onRevoked` once when the sign-in of a request is revoked, also one that the request itself makes. For responses
 * that go on: streams and live connections.
 *
 * @returns a function that ends this; call it when the response has ended
 * @throws RequestError 503 if the client has a session, and the revocations were not read yet
 */
export function watchSession(context: RequestContext, onRevoked: () => void): () => void {
  const revokedBefore = currentSession(context) === null ? storedSession(context) : null;
  return sessionsOf(context)?.watch({ of: context, revokedBefore, onRevoked }) ?? (() => undefined);
}

/**
 * Does the same as {@link watchSession} for a response whose request can no longer sign in: no code of the application runs
 * in it. It keeps the session only, instead of the request with its URL and headers, and nothing for a signed-out client.
 *
 * @throws RequestError 503 if the client has a session, and the revocations were not read yet
 */
export function watchFinalSession(context: RequestContext, onRevoked: () => void): () => void {
  const session = currentSession(context);
  const sessions = sessionsOf(context);
  return session && sessions ? sessions.watch({ of: session, revokedBefore: null, onRevoked }) : () => undefined;
}

/** Returns the session of the request's cookie. An invalid cookie is not an error: the client is signed out. */
function readSession(context: RequestContext): VerifiedSession | null {
  const { config, inbound } = context;
  const token = findCookie(inbound.header("cookie"), sessionCookieName(config.cookieSecure));
  if (token === null) return null;
  const cache = verifiedSessions(config);
  const cached = cache.get(token);
  if (cached) return cached;
  const text = verifyToken(keysFor(config, "session").verify, token);
  if (text === null) {
    if (isOfUnknownSecret(token)) sessionsOf(context)?.refuseSecret(context);
    return null;
  }
  const session = parsePayload(text, nowSeconds(), (seconds) => sessionsOf(context)?.clockSkew.report(seconds));
  if (session) cache.set(token, session);
  return session;
}

/**
 * Returns whether a token that no secret of this process has signed has the content of a session that is valid now: another
 * process may have signed it with a secret that this one lacks. For the log only: any client can write such a token.
 */
function isOfUnknownSecret(token: string): boolean {
  const text = readUnverifiedText(token);
  return text !== null && parsePayload(text, nowSeconds()) !== null;
}

import { SIGNED_OUT_COOKIE } from "../config/index.ts";
import { RPCError } from "../errors.ts";
import {
  adviseDeveloper,
  isPrefetch,
  MAX_COOKIE_BYTES,
  type RequestContext,
  RequestError,
  refuseEffect,
  requireClientContext,
  requireContext,
  requireSessionContext,
} from "../http/index.ts";
import { type RevokedUser, SESSION, sessionsOf, subjectOf } from "./app-sessions.ts";
import {
  type ApplicationClaims,
  hasRoles,
  type LoginClaims,
  missingRolesText,
  type Role,
  type User,
} from "./claims.ts";
import { cookieSize } from "./cookie.ts";
import { currentSession, nowSeconds, sendsEndedSession } from "./current-session.ts";
import { keysFor } from "./keys.ts";
import { createPayload, MAX_AGE_SECONDS, parsePayload } from "./payload.ts";
import { signToken } from "./token.ts";

/**
 * The session of the signed-in user. It is stored in a signed cookie, not on the server, so every process of the
 * application can verify it. It works in pages, server functions, routes, and all code that they call or start.
 *
 * The cookie is signed, not encrypted: its holder can read the claims. It is valid until it expires or is revoked. A
 * change of roles takes effect at the next sign-in, and `logout` ends the session in that browser only.
 *
 * @throws Error that names the method, when a method is called outside a request
 * @see docs/protocol.md 7
 */
export interface Session {
  /** The lifetime of a session, in seconds: 7 days. */
  readonly max_age: number;

  /**
   * The random id of this sign-in, for `session.revoke({ sid })`; `null` if the client is signed out. For a bearer token, `b:` and
   * 22 characters of its SHA-256.
   */
  readonly sid: string | null;

  /** The time of this sign-in, in whole seconds; `null` if the client is signed out, and with a bearer token. */
  readonly issued_at: Date | null;

  /**
   * Signs a user in for 7 days by setting the session cookie. `session.user()` returns this user for the rest of the
   * request. An earlier sign-in is replaced. Every sign-in has a new id, so a CSRF token or a feed of an earlier one is
   * no longer valid.
   *
   * @param user_id the user's id, returned as `sub`; a non-empty string
   * @param claims further values for the cookie, such as `{ name, roles }`: anything that JSON represents without loss.
   *   The cookie, with its name, has at most 4,096 bytes.
   * @throws TypeError that names the invalid user id or claim
   * @throws RangeError that names the size of the cookie, if browsers would not store it
   * @throws Error after the headers of the response have been sent, and in a request with a bearer token
   * @throws RPCError `unauthenticated` if the user was revoked since the request began, unless the request itself has done it:
   *   the password or the session that it has checked may be of before
   * @throws RequestError 503 before the revocations were read
   */
  login(user_id: string, ...claims: LoginClaims): void;

  /**
   * Returns the signed-in user, `{ sub, ...claims }`, deeply frozen; `null` if the client is signed out. An invalid or
   * expired cookie is not an error: the client is then signed out.
   */
  user<T = ApplicationClaims>(): User<T> | null;

  /**
   * Returns the signed-in user if the claim `roles` contains all of `roles`; without arguments, any signed-in user.
   *
   * @param roles the required roles, one by one: `session.require("admin", "editor")`
   * @throws RPCError `unauthenticated` if the client is signed out
   * @throws RPCError `forbidden` if a role is missing, or the claim is not an array of strings
   * @throws TypeError for a role that is not a string, as in `require(["admin"])`
   */
  require<T = ApplicationClaims>(...roles: Role[]): User<T>;

  /**
   * Signs the user out by removing the session cookie. `session.user()` returns `null` for the rest of the request. A copy
   * of the cookie stays valid until it expires: `session.revoke({ sid })` ends it too.
   *
   * @throws Error after the headers of the response have been sent, and in a request with a bearer token
   */
  logout(): void;

  /**
   * Ends all sign-ins of a user so far, or one: their cookies are refused, and their streams and live connections end, in
   * every process. The user can sign in again at once. Resolves when the revocation is stored durably and the other
   * processes were notified.
   *
   * Of a user or an id of bearer tokens, it ends the open streams and live connections. It refuses no later request: `authenticate`
   * decides each of them.
   *
   * Whether the caller may do this is for the caller to check. Outside a request, call `app.revoke`.
   *
   * @param who the user id of `session.login`, or `{ sid }` with the `session.sid` of a sign-in
   * @throws TypeError for anything else
   * @throws Error if the revocation may not be stored, or if the processes may not have been notified
   * @see docs/protocol.md 7.8
   * @example await session.revoke(session.require().sub); // sign out everywhere
   */
  revoke(who: RevokedUser): Promise<void>;
}

/**
 * The session of the current request.
 *
 * Its type is declared, not inferred: an inferred type would fix the claims in the published declarations, before an
 * application can declare its own.
 */
export const session: Session = Object.freeze<Session>({
  max_age: MAX_AGE_SECONDS,

  get sid() {
    return currentSession(requireSessionContext("session.sid"))?.sid ?? null;
  },

  get issued_at() {
    const current = currentSession(requireSessionContext("session.issued_at"));
    return current && !current.isBearer ? new Date(current.iat * 1000) : null;
  },

  login(user_id, ...[claims]) {
    const context = requireClientContext("session.login()");
    refuseEffect("session.login()");
    requireCookies(context, "session.login");
    const { config } = context;
    const sessions = sessionsOf(context);
    const position = sessions?.positionFor(context) ?? null;
    const text = createPayload(user_id, claims ?? {}, { nowSeconds: nowSeconds(), position });
    const issued = parsePayload(text, nowSeconds());
    if (issued && sessions?.revocations.isRevoked(issued)) throw revokedMeanwhileError();
    const name = config.sessionCookie;
    const token = signToken(keysFor(config, "session").sign, text);
    checkCookieSize(name, token);
    recordReplaced(context);
    context.setCookie(name, token, { maxAge: MAX_AGE_SECONDS });
    context.set(SESSION, issued);
    if (issued) sessions?.signedIn(issued);
  },

  user<T>() {
    return currentUser<T>(requireSessionContext("session.user()"));
  },

  require<T>(...roles: Role[]) {
    const context = requireSessionContext("session.require()");
    if (!roles.every((role) => typeof role === "string")) {
      throw new TypeError(
        `session.require: every role must be a string. Received: ${roles.map((role) => typeof role).join(", ")}. Pass ` +
          'roles one by one: require("admin", "editor").',
      );
    }
    const user = currentUser<T>(context);
    if (user === null) throw new RPCError("unauthenticated", "Please sign in.");
    const { roles: claim } = user as { readonly roles?: unknown }; // reading a field of any object is safe
    if (!hasRoles(claim, roles)) {
      const error = new RPCError("forbidden", "You are not allowed to do this.");
      throw context.config.production ? error : adviseDeveloper(error, missingRolesText(claim, roles));
    }
    return user;
  },

  logout() {
    const context = requireClientContext("session.logout()");
    refuseEffect("session.logout()");
    requireCookies(context, "session.logout");
    recordReplaced(context);
    removeSessionCookie(context);
    context.set(SESSION, null);
  },

  async revoke(who) {
    const context = requireContext("session.revoke()");
    const subject = subjectOf(who);
    const sessions = sessionsOf(context);
    if (!sessions) throw new Error("session.revoke: this request belongs to no application.");
    await sessions.revoke(subject);
  },
});

/**
 * Removes the cookie of a session that was revoked or has expired from the browser, with the response of a page, and with it the pages
 * that the browser keeps for Back. A prefetch is refused: if it is shown, no response would remove them. Has no effect after the headers
 * have been sent.
 *
 * @see docs/protocol.md 7.4 and 11.10
 */
export function removeEndedSession(context: RequestContext): void {
  if (context.headersSent || !sendsEndedSession(context)) return;
  if (isPrefetch(context)) context.unavailable = new RequestError("internal", ENDED_IN_PREFETCH, { status: 503 });
  else removeSessionCookie(context);
}

const ENDED_IN_PREFETCH = "The session has ended. The click requests the page again, and removes its cookie.";

/** Records that the session of a request ends in its browser. */
function recordReplaced(context: RequestContext): void {
  const sessions = sessionsOf(context);
  const session = sessions?.revocations.isLoaded ? currentSession(context) : null;
  if (session) sessions?.replaces(session, context);
}

/** Removes the session cookie, and the pages that the browser keeps for Back. */
function removeSessionCookie(context: RequestContext): void {
  const { cookieSecure, sessionCookie } = context.config;
  context.setCookie(sessionCookie, "", { maxAge: 0 });
  // Over HTTPS, no server reads it: it only has to be set.
  context.setCookie(SIGNED_OUT_COOKIE, "1", { maxAge: cookieSecure ? 1 : SIGNED_OUT_SECONDS });
}

/** How long WebKit keeps a page for Back. */
const SIGNED_OUT_SECONDS = 30 * 60;

/** @throws Error in a request with a bearer token, which has no session cookie */
function requireCookies(context: RequestContext, caller: string): void {
  if (!context.isBearer) return;
  throw new Error(
    `${caller} was called in a request with a bearer token, which \`authenticate\` of new App has decided. Such a request sets no ` +
      "session cookie. Call it in a request of a browser, without the header Authorization.",
  );
}

function currentUser<T>(context: RequestContext): User<T> | null {
  // The application signed these claims itself. That they have the type T is its own assertion.
  return (currentSession(context)?.user ?? null) as User<T> | null;
}

function revokedMeanwhileError(): RPCError {
  return new RPCError("unauthenticated", "You were signed out. Please sign in again.");
}

function checkCookieSize(name: string, token: string): void {
  const size = cookieSize(name, token);
  if (size <= MAX_COOKIE_BYTES) return;
  throw new RangeError(
    `session.login: the session cookie would be ${size} bytes, and browsers do not store cookies over ` +
      `${MAX_COOKIE_BYTES}. Store fewer claims, and look up the rest by sub.`,
  );
}

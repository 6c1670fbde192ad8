import { RPCError } from "../errors.ts";
import { type RequestContext, requireContext } from "../http/index.ts";
import type { LoginClaims, OurClaims, Role, User } from "./claims.ts";
import { cookieSize, findCookie, MAX_COOKIE_BYTES, sessionCookieName } from "./cookie.ts";
import { keysFor } from "./keys.ts";
import { recentOf } from "./lru-cache.ts";
import { MAX_AGE_SECONDS, type OpenSession, readPayload, writePayload } from "./payload.ts";
import { signToken, verifyToken } from "./token.ts";

/** What cookies said whose signature was right. */
const verified = recentOf<OpenSession>();

function sessionOf(context: RequestContext): OpenSession | null {
  // Written here, and below by a sign-in or sign-out on the way: nowhere else.
  const read = context.session === undefined ? readSession(context) : (context.session as OpenSession | null);
  context.session = read;
  // A stream may outlive the sign-in that it began with, and what a cookie says is remembered beyond its time.
  return read !== null && now() < read.exp ? read : null;
}

/** A cookie that is changed, foreign, over or of another shape is no error: the visitor is signed out. */
function readSession({ config, inbound }: RequestContext): OpenSession | null {
  const token = findCookie(inbound.header("cookie"), sessionCookieName(config.cookieSecure));
  if (token === null) return null;
  const remembered = verified(config);
  const known = remembered.get(token);
  if (known) return known;
  const text = verifyToken(keysFor(config, "session").verify, token);
  const read = text === null ? null : readPayload(text, now());
  if (read) remembered.set(token, read);
  return read;
}

function now(): number {
  return Date.now() / 1000;
}

/**
 * Gives the id of a request's sign-in, or `null` when nobody is signed in: what CSRF tokens and
 * feeds are bound to. A sign-in on the way is seen at once.
 */
export function sessionId(context: RequestContext): string | null {
  return sessionOf(context)?.sid ?? null;
}

function currentUser<T>(context: RequestContext): User<T> | null {
  // The claims are what this application signed; that they are T is its own word.
  return (sessionOf(context)?.user ?? null) as User<T> | null;
}

/** Roles that are not a list of strings are no roles: `"superadmin"` must not pass for `admin`. */
function hasRoles(claim: unknown, roles: readonly string[]): boolean {
  if (roles.length === 0) return true;
  if (!Array.isArray(claim) || !claim.every((role) => typeof role === "string")) return false;
  return roles.every((role) => claim.includes(role));
}

/**
 * The signed-in user, kept in a signed cookie: no store, and any process of the server can verify
 * it. Works in pages, server functions, routes and all that they start; outside a request every
 * call throws and says so.
 *
 * The cookie is signed, not encrypted: its holder can read the claims. And it holds until it is
 * over: a change of roles is seen at the next sign-in, and a sign-out ends it in that browser only.
 *
 * @see the interface, "Session payload"
 */
export interface Session {
  /** How long a sign-in lasts, in seconds: 7 days. */
  readonly max_age: number;

  /**
   * Signs a user in: sets the cookie, and `session.user()` is that user from here on. A sign-in
   * before it is replaced; every sign-in has an id of its own, so nothing bound to an earlier one
   * (a CSRF token, a feed) outlives it.
   *
   * @param user_id becomes `sub`; not empty
   * @param claims kept in the cookie with it, as `{ name, roles }`; anything JSON can hold
   * @throws TypeError for a user id or claims that cannot be kept, naming which
   * @throws RangeError when the cookie would be too large for browsers, naming its size
   * @throws Error after a stream has sent its first bytes
   */
  login(user_id: string, ...claims: LoginClaims): void;

  /**
   * Gives the signed-in user, `{ sub, ...claims }`, frozen; or `null` when nobody is signed in.
   * Whatever is wrong with a cookie, changed, foreign or over, is no error: nobody is signed in.
   */
  user<T = OurClaims>(): User<T> | null;

  /**
   * Gives the signed-in user, who has all of `roles` in the claim `roles`.
   *
   * @throws RPCError `unauthenticated` when nobody is signed in
   * @throws RPCError `forbidden` when a role is missing, or the claim is not a list of strings
   * @throws TypeError for a role that is not a string: `require(["admin"])` names none
   */
  require<T = OurClaims>(...roles: Role[]): User<T>;

  /**
   * Signs the user out: clears the cookie, and `session.user()` is `null` from here on.
   *
   * @throws Error after a stream has sent its first bytes
   */
  logout(): void;
}

/**
 * The session of the request under way. (Its type is written out above rather than inferred: an
 * inferred one would settle in the declarations what applications are yet to say with `Claims`.)
 */
export const session: Session = Object.freeze<Session>({
  max_age: MAX_AGE_SECONDS,

  login(user_id, ...[claims]) {
    const context = requireContext("session.login()");
    const { config } = context;
    const text = writePayload(user_id, claims ?? {}, now());
    const name = sessionCookieName(config.cookieSecure);
    const token = signToken(keysFor(config, "session").sign, text);
    const size = cookieSize(name, token);
    if (size > MAX_COOKIE_BYTES) {
      throw new RangeError(
        `session.login: the session's cookie would be ${size} bytes, and browsers drop one over ${MAX_COOKIE_BYTES}. ` +
          "Keep fewer claims, and look the rest up by sub.",
      );
    }
    context.setCookie(name, token, { maxAge: MAX_AGE_SECONDS });
    context.session = readPayload(text, now());
  },

  user<T>() {
    return currentUser<T>(requireContext("session.user()"));
  },

  require<T>(...roles: Role[]) {
    const context = requireContext("session.require()");
    if (!roles.every((role) => typeof role === "string")) {
      throw new TypeError('session.require: roles are strings, one after another, as in require("admin", "editor").');
    }
    const user = currentUser<T>(context);
    if (user === null) throw new RPCError("unauthenticated", "Please sign in.");
    if (!hasRoles((user as { roles?: unknown }).roles, roles)) {
      throw new RPCError("forbidden", "You are not allowed to do this.");
    }
    return user;
  },

  logout() {
    const context = requireContext("session.logout()");
    context.setCookie(sessionCookieName(context.config.cookieSecure), "", { maxAge: 0 });
    context.session = null;
  },
});

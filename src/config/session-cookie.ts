/**
 * The name of the session cookie. Cookies do not belong to a port, so two applications on `localhost` share them: with one name,
 * a sign-in at one of them would sign the user out of the other.
 *
 * @see docs/protocol.md 7.1
 */

import { namespaceOf } from "./bus-url.ts";
import { InvalidVariableError, quoteValue } from "./config-error.ts";
import { UNNAMED_REALM } from "./realm.ts";

/** The name in production, unless the application or the environment sets another one. Without a prefix. */
export const SESSION_COOKIE = "web_session";

/** The cookie that a response sets when it removes the session cookie. @see docs/protocol.md 7.1 */
export const SIGNED_OUT_COOKIE = "web_signed_out";

/** The maximum length of a name, in characters. The cookie, its name included, has at most 4,096 bytes. */
const MAX_LENGTH = 64;

/** A cookie name. @see RFC 6265, section 4.1.1 */
const COOKIE_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The prefixes with which browsers bind a cookie to rules. They ignore the case. @see RFC 6265bis, section 4.1.3 */
const PREFIX = /^__(?:host|secure|http|host-http)-/i;

/** Browsers accept a cookie with this prefix only from this host itself, so that a sibling site cannot set it (cookie tossing). */
const HOST_PREFIX = "__Host-";

/** Returns the name that a cookie has over HTTPS. @see docs/protocol.md 7.1 */
export function withHostPrefix(name: string): string {
  return HOST_PREFIX + name;
}

/** Returns the name of a cookie without the prefix of HTTPS. */
export function withoutHostPrefix(name: string): string {
  return name.startsWith(HOST_PREFIX) ? name.slice(HOST_PREFIX.length) : name;
}

/** Returns whether a string can be the name of a cookie. */
export function isCookieName(name: string): boolean {
  return COOKIE_NAME.test(name);
}

/** Returns why a value cannot be the name of the session cookie, as the rest of a sentence, and the fix; `null` if it can. */
export function sessionCookieProblem(name: string): { readonly problem: string; readonly fix: string } | null {
  if (PREFIX.test(name)) {
    const fix = "Set the name without the prefix: with WEB_COOKIE_SECURE=1, tsweb adds __Host- itself.";
    return { problem: `is ${quoteValue(name)}, which has a prefix of browsers.`, fix };
  }
  if (name === SIGNED_OUT_COOKIE) {
    return {
      problem: `is ${quoteValue(name)}, which is another cookie of tsweb.`,
      fix: 'Choose another name: "shop_session".',
    };
  }
  if (isCookieName(name) && name.length <= MAX_LENGTH) return null;
  const fix = `Set it to a name like "shop_session": 1 to ${MAX_LENGTH} letters, digits and the characters - and _`;
  return { problem: `is ${quoteValue(name)}, which is not the name of a cookie.`, fix };
}

/** Returns the name of the session cookie in a variable. */
export function parseSessionCookie(text: string): string {
  const invalid = sessionCookieProblem(text);
  if (invalid) throw new InvalidVariableError(invalid.problem, invalid.fix);
  return text;
}

/**
 * Returns the name of the session cookie of an application that sets none: in development one by its realm, such as
 * `web_session_shop`, so that the applications of a machine do not sign each other's users out.
 */
export function defaultSessionCookie(realm: string, production: boolean): string {
  return production || realm === UNNAMED_REALM ? SESSION_COOKIE : `${SESSION_COOKIE}_${namespaceOf(realm)}`;
}

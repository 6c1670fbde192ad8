/**
 * What separates applications. The realm is a part of every key that an application derives: applications with one secret and
 * different realms do not accept what the others have signed. The session cookie has a name by the realm in development. Cookies
 * do not belong to a port, so two applications on `localhost` share them: with one name, a sign-in at one of them would sign the
 * user out of the other.
 *
 * @see docs/security.md "Realms"
 * @see docs/protocol.md 7.1
 */
import { resolve } from "node:path";
import { builtName } from "./build-info.ts";
import { namespaceOf } from "./bus-url.ts";
import { ConfigError, InvalidVariableError, quoteValue } from "./config-error.ts";
import { projectName } from "./project.ts";
import type { Environment } from "./variables.ts";

/** The realm of an application without a name. */
const UNNAMED_REALM = "tsweb";

/** The maximum length of a realm, which is that of the names of packages. */
const MAX_REALM_LENGTH = 214;

/** Returns a realm if its characters are those that names of packages have. */
export function parseRealm(text: string): string {
  if (/^[\w@./~-]+$/.test(text) && text.length <= MAX_REALM_LENGTH) return text;
  throw new InvalidVariableError(
    `is ${quoteValue(text)}, which is not a realm.`,
    `Set it to a name like "shop" or "@acme/shop": 1 to ${MAX_REALM_LENGTH} letters, digits and the characters @ . / ~ - _`,
  );
}

/** Returns the realm of an application that sets none: the `name` in its package.json, which a build contains. */
export function defaultRealm(folder: string): string {
  const name = builtName ?? projectName(resolve(folder));
  return name ? name.slice(0, MAX_REALM_LENGTH) : UNNAMED_REALM;
}

/**
 * Returns the realm of this process, for code outside of requests: `WEB_REALM`, or that of the current folder.
 *
 * @throws ConfigError for an invalid `WEB_REALM`
 */
export function processRealm(env: Environment = process.env): string {
  const { WEB_REALM } = env;
  if (!WEB_REALM) return defaultRealm(process.cwd());
  try {
    return parseRealm(WEB_REALM);
  } catch (error) {
    if (!(error instanceof InvalidVariableError)) throw error;
    throw new ConfigError([{ variable: "WEB_REALM", problem: error.problem, fix: error.fix }]);
  }
}

/** The name in production, unless the application or the environment sets another one. Without a prefix. */
export const SESSION_COOKIE = "web_session";

/** The cookie that a response sets when it removes the session cookie. @see docs/protocol.md 7.1 */
export const SIGNED_OUT_COOKIE = "web_signed_out";

/** The maximum length of a name, in characters. The cookie, its name included, has at most 4,096 bytes. */
const MAX_COOKIE_LENGTH = 64;

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
  if (isCookieName(name) && name.length <= MAX_COOKIE_LENGTH) return null;
  const fix = `Set it to a name like "shop_session": 1 to ${MAX_COOKIE_LENGTH} letters, digits and the characters - and _`;
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

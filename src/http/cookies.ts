/**
 * The largest cookie that browsers store, in bytes: the name, the `=` and the value. They ignore a larger one silently.
 *
 * @see RFC 6265, section 6.1
 */
export const MAX_COOKIE_BYTES = 4096;

const SESSION_COOKIE = "web_session";
const SECURE_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;

/**
 * The cookie that a response sets when it removes the session cookie. Chromium keeps pages for Back although they are
 * `no-store`, until a cookie of the site is set; it ignores one that is removed. Over HTTP, the next page also reads it.
 *
 * @see docs/protocol.md 7.1
 */
export const SIGNED_OUT_COOKIE = "web_signed_out";

/** A cookie name. @see RFC 6265, section 4.1.1 */
const COOKIE_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Returns whether a string can be the name of a cookie. */
export function isCookieName(name: string): boolean {
  return COOKIE_NAME.test(name);
}

/**
 * Returns the name of the session cookie. Over HTTPS it has the prefix `__Host-`: browsers then accept the cookie only
 * from this host itself, so a sibling site such as another subdomain cannot set it (cookie tossing).
 *
 * @param secure the setting `WEB_COOKIE_SECURE`
 * @see docs/protocol.md 7.1
 */
export function sessionCookieName(secure: boolean): string {
  return secure ? SECURE_SESSION_COOKIE : SESSION_COOKIE;
}

/**
 * Returns whether a cookie name is reserved for the session. Both names are reserved regardless of `WEB_COOKIE_SECURE`,
 * so that no session can be forged when the setting changes.
 */
export function isSessionCookie(name: string): boolean {
  return name === SESSION_COOKIE || name === SECURE_SESSION_COOKIE;
}

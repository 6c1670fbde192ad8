import { type Config, SESSION_COOKIE, withoutHostPrefix } from "../config/index.ts";

/**
 * The largest cookie that browsers store, in bytes: the name, the `=` and the value. They ignore a larger one silently.
 *
 * @see RFC 6265, section 6.1
 */
export const MAX_COOKIE_BYTES = 4096;

/**
 * Returns whether a cookie name is reserved for the session. Names with and without the prefix are reserved regardless of
 * `WEB_COOKIE_SECURE`, so that no session can be forged when the setting changes. So is the name of production in development.
 */
export function isSessionCookie(name: string, { sessionCookie }: Pick<Config, "sessionCookie">): boolean {
  const plain = withoutHostPrefix(name);
  return plain === withoutHostPrefix(sessionCookie) || plain === SESSION_COOKIE;
}

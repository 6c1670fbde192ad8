/** The most a browser keeps of a cookie: its name, the `=` and its value. @see RFC 6265, section 6.1 */
export const MAX_COOKIE_BYTES = 4096;

const NAME = "web_session";
const SECURE_NAME = `__Host-${NAME}`;

/**
 * Gives the name of the session's cookie. Over HTTPS it has the `__Host-` prefix: browsers then
 * take it only from this very host, so that no sibling site can plant one.
 */
export function sessionCookieName(secure: boolean): string {
  return secure ? SECURE_NAME : NAME;
}

/** Answers whether a cookie's name is the session's, in either of its spellings. */
export function isSessionCookie(name: string): boolean {
  return name === NAME || name === SECURE_NAME;
}

/** Counts the bytes of a cookie as a browser does when it decides whether to keep it. */
export function cookieSize(name: string, value: string): number {
  return Buffer.byteLength(name) + 1 + Buffer.byteLength(value);
}

/**
 * Finds the one value of a cookie in a `Cookie` header, as it was sent, nothing decoded.
 *
 * Two cookies of the name are none: a sibling site can plant a second one with a longer path,
 * which browsers send first, and the visitor would act under the planter's name without knowing.
 * Nor is anything but space and tab trimmed, since more (as `trim` does) would let a name that the
 * browser does not hold to the prefix's rules pass for one that it does.
 */
export function findCookie(header: string | null, name: string): string | null {
  if (header === null || !header.includes(name)) return null;
  let found: string | null = null;
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    if (equals === -1 || trimBlanks(pair.slice(0, equals)) !== name) continue;
    if (found !== null) return null;
    found = trimBlanks(pair.slice(equals + 1));
  }
  return found;
}

function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Returns the size of a cookie in bytes, as browsers count it for their limit: the name, the `=` and the value. */
export function cookieSize(name: string, value: string): number {
  return Buffer.byteLength(name) + 1 + Buffer.byteLength(value);
}

/**
 * Returns the value of a cookie exactly as it was sent, without percent-decoding; `null` if the header does not contain
 * the cookie exactly once.
 *
 * - When two cookies have the name, neither counts. A sibling site can set a second one with a longer path, which
 *   browsers send first. The user would then act in the attacker's account without noticing (cookie tossing).
 * - The value is not decoded. Otherwise a token could be spelled in several ways.
 * - Only spaces and tabs are trimmed. `trim()` removes more characters. A name with such a character is not bound to
 *   the rules of the prefix `__Host-` in browsers, but would be taken for the prefixed name here.
 *
 * @param header the `Cookie` header, or `null`
 * @see docs/protocol.md 7.1
 */
export function findCookie(header: string | null, name: string): string | null {
  if (header === null || !header.includes(name)) return null;
  let value: string | null = null;
  let equals = -1;
  for (let start = 0; start < header.length; ) {
    // The sign is searched for again only behind the last one: for each pair, a header of semicolons would take quadratic time.
    if (equals < start) equals = header.indexOf("=", start);
    if (equals === -1) break;
    const semicolon = header.indexOf(";", start);
    const end = semicolon === -1 ? header.length : semicolon;
    if (equals < end && trimBlanks(header, start, equals) === name) {
      if (value !== null) return null;
      value = trimBlanks(header, equals + 1, end);
    }
    start = end + 1;
  }
  return value;
}

/** Returns a part of a text without leading and trailing spaces and tabs, in linear time. */
function trimBlanks(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

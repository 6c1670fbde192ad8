/** Converts `rawHeaders`, Node's flat list of names and values, to `Headers`. HTTP/2 pseudo-headers such as `:path` are left out. */
export function toHeaders(rawHeaders: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (!name.startsWith(":")) headers.append(name, rawHeaders[i + 1] ?? "");
  }
  return headers;
}

/**
 * Returns whether a header was sent more than once.
 *
 * @param name in lower case
 */
export function isRepeated(name: string, rawHeaders: readonly string[]): boolean {
  return countOf(name, rawHeaders) > 1;
}

/**
 * Returns how often a header was sent.
 *
 * @param name in lower case
 */
export function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i];
    if (sent?.length === name.length && (sent === name || sent.toLowerCase() === name)) count++;
  }
  return count;
}

/**
 * Returns the values of a header, joined as in the Fetch standard; `null` if it was not sent. Without an object of all headers, which
 * `request.headers` makes.
 *
 * @param name in lower case
 */
export function rawHeader(name: string, rawHeaders: readonly string[]): string | null {
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
  return values.length === 0 ? null : values.join(", ");
}

/**
 * Returns whether the value of a `Host` header is a host, with or without a port, and nothing else.
 *
 * Runtimes join the header and the path to a URL. With `Host: a/admin?`, the client would choose another path than the
 * one that a proxy or a guard in front has seen; with `Host: user@b`, another host.
 *
 * When unsure, the host is refused: only ASCII letters, digits and `.-_:[]` are accepted, and the URL parser must
 * accept the whole.
 *
 * @see docs/protocol.md 2.2
 * @see RFC 9110, section 7.2
 */
export function isValidHost(host: string): boolean {
  return /^[A-Za-z0-9.:[\]_-]{1,260}$/.test(host) && URL.canParse(`http://${host}`);
}

// A cache of one entry with the lifetime of the process. Most servers are reached under one host name, and parsing an
// origin costs as much as all other checks of a call together.
let cachedPrefix = "";
let cachedOrigin = "";

/** Returns the origin of a URL. The last result is cached. */
export function originOf({ href }: URL): string {
  const prefix = href.slice(0, href.indexOf("/", "https://".length));
  if (prefix !== cachedPrefix) {
    cachedOrigin = new URL(prefix).origin;
    cachedPrefix = prefix;
  }
  return cachedOrigin;
}

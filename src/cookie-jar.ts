import { parseCookie, parseSetCookie } from "cookie";

interface StoredCookie {
  readonly value: string;
  /** In milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** Disables decoding: values are sent back unchanged, because a decoded signed value would no longer verify. */
const identity = (value: string) => value;

/**
 * The cookies of one client of one site, by name.
 *
 * A jar is used for a single site, so `Domain`, `Path` and `Secure` are ignored. `Max-Age` and `Expires` apply.
 */
export class CookieJar {
  readonly #cookies = new Map<string, StoredCookie>();
  readonly #now: () => number;

  /** @param now returns the time, in milliseconds since the Unix epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Stores the cookies of `Set-Cookie` headers, and deletes expired ones. */
  storeSetCookies(headers: Iterable<string>): void {
    for (const header of headers) {
      const { name, value = "", maxAge, expires } = parseSetCookie(header, { decode: identity });
      // A cookie without a name is dropped: in a `Cookie` header its value would be parsed as a name.
      if (name === "") continue;
      // Max-Age takes precedence over Expires. @see RFC 6265, section 5.3
      const expiresAt =
        maxAge === undefined ? (expires?.getTime() ?? Number.POSITIVE_INFINITY) : this.#now() + maxAge * 1000;
      if (expiresAt > this.#now()) this.#cookies.set(name, { value, expiresAt });
      else this.#cookies.delete(name);
    }
  }

  /** Stores the cookies of a `Cookie` header, without expiry. */
  storeCookieHeader(header: string): void {
    for (const [name, value = ""] of Object.entries(parseCookie(header, { decode: identity }))) {
      this.#cookies.set(name, { value, expiresAt: Number.POSITIVE_INFINITY });
    }
  }

  /** Returns the `Cookie` header of the next request; `null` if there are no cookies. */
  cookieHeader(): string | null {
    const pairs = Object.entries(this.all()).map(([name, value]) => `${name}=${value}`);
    return pairs.length > 0 ? pairs.join("; ") : null;
  }

  /** Returns the unexpired cookies: name to value, undecoded. */
  all(): Record<string, string> {
    const all: Record<string, string> = Object.create(null);
    for (const [name, { value, expiresAt }] of this.#cookies) {
      if (expiresAt > this.#now()) all[name] = value;
      else this.#cookies.delete(name);
    }
    return all;
  }

  /** Deletes all cookies. */
  clear(): void {
    this.#cookies.clear();
  }
}

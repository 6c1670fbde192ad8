import { parseCookie, parseSetCookie } from "cookie";

interface StoredCookie {
  readonly value: string;
  /** When it is over, in milliseconds since the epoch. */
  readonly end: number;
}

/** Values go back as they came: a signed one that was decoded on the way would no longer verify. */
const identity = (value: string) => value;

/**
 * The cookies of one visitor at one site, kept between requests by the names they have.
 *
 * Less than a browser's, on purpose: whoever has a jar asks one site, so `Domain`, `Path` and
 * `Secure` decide nothing. `Max-Age` and `Expires` do.
 */
export class CookieJar {
  readonly #kept = new Map<string, StoredCookie>();
  readonly #now: () => number;

  /** @param now the time, in milliseconds since the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Takes the cookies that an answer sets, and drops those it removes. */
  storeSetCookies(lines: Iterable<string>): void {
    for (const line of lines) {
      const { name, value = "", maxAge, expires } = parseSetCookie(line, { decode: identity });
      // What has no name could not be sent back so that it reads the same.
      if (name === "") continue;
      // A Max-Age counts before an Expires. @see RFC 6265, section 5.3
      const end = maxAge === undefined ? (expires?.getTime() ?? Number.POSITIVE_INFINITY) : this.#now() + maxAge * 1000;
      if (end > this.#now()) this.#kept.set(name, { value, end });
      else this.#kept.delete(name);
    }
  }

  /** Takes the cookies of a `Cookie` header, until told otherwise. */
  storeCookieHeader(header: string): void {
    for (const [name, value = ""] of Object.entries(parseCookie(header, { decode: identity }))) {
      this.#kept.set(name, { value, end: Number.POSITIVE_INFINITY });
    }
  }

  /** Gives the `Cookie` header of the next request, or `null` when there is nothing to send. */
  cookieHeader(): string | null {
    const pairs = Object.entries(this.all()).map(([name, value]) => `${name}=${value}`);
    return pairs.length > 0 ? pairs.join("; ") : null;
  }

  /** Gives the cookies that hold now: name to value, as it was sent. */
  all(): Record<string, string> {
    const all: Record<string, string> = Object.create(null);
    for (const [name, { value, end }] of this.#kept) {
      if (end > this.#now()) all[name] = value;
      else this.#kept.delete(name);
    }
    return all;
  }

  /** Forgets all of them. */
  clear(): void {
    this.#kept.clear();
  }
}

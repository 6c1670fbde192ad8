import { requireContext, type StringRecord } from "./request-context.ts";

/** Names that no application may write: the session's cookie is the session's alone. */
const RESERVED = /^(__Host-)?web_session$/;

/** The characters a cookie's name is made of. @see RFC 6265, section 4.1.1 */
const COOKIE_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** What browsers keep of a cookie's name and value: one that is larger they drop without a word. */
const MAX_COOKIE_BYTES = 4096;

/**
 * The request under way, in a page, a server function, a route and all that they start.
 *
 * Outside a request every member throws and says so.
 *
 * @see the interface, "Request context"
 */
export const request = {
  /** The path, without the query. */
  get path(): string {
    return requireContext("request.path").inbound.pathname;
  },
  /** `GET` or `POST`. A HEAD reads as GET: it runs the same page. */
  get method(): string {
    const { method } = requireContext("request.method").inbound;
    return method === "HEAD" ? "GET" : method;
  },
  /** The query's parameters; of a repeated one, the last. */
  get query(): StringRecord {
    return requireContext("request.query").query;
  },
  /** The headers, names in lower case. */
  get headers(): StringRecord {
    return requireContext("request.headers").headers;
  },
  /** The cookies the browser sent. */
  get cookies(): StringRecord {
    return requireContext("request.cookies").cookies;
  },
  /** The request's id, also sent as `X-Request-Id`. */
  get id(): string {
    return requireContext("request.id").id;
  },
  /** Aborts when the caller is gone or out of time. Its listeners run outside the request: `request` is not there. */
  get signal(): AbortSignal {
    return requireContext("request.signal").signal;
  },
  /**
   * Sets a cookie: `Path=/; HttpOnly; SameSite=Lax`, and `Secure` as the session has it.
   *
   * @param options `max_age` in seconds; without it the cookie ends with the browser's session,
   *   with `0` it is removed
   * @throws TypeError for a name or value that no cookie can have, or the session's name
   * @throws RangeError for one so large that browsers would drop it
   * @throws Error after the first byte of the answer has left
   */
  set_cookie(name: string, value: string, options: { readonly max_age?: number } = {}): void {
    const context = requireContext("request.set_cookie()");
    if (typeof name !== "string" || !COOKIE_NAME.test(name)) {
      throw new TypeError(`request.set_cookie: ${JSON.stringify(name)} cannot name a cookie.`);
    }
    if (RESERVED.test(name)) {
      throw new TypeError(`request.set_cookie: ${name} is the session's; use session.login and session.logout.`);
    }
    if (typeof value !== "string" || !value.isWellFormed()) {
      throw new TypeError(`request.set_cookie: the value of ${name} must be a string, of whole characters.`);
    }
    const size = name.length + encodeURIComponent(value).length;
    if (size > MAX_COOKIE_BYTES) {
      throw new RangeError(
        `request.set_cookie: ${name} would be ${size} bytes; browsers drop one over ${MAX_COOKIE_BYTES}.`,
      );
    }
    const { max_age } = options;
    if (max_age !== undefined && !Number.isSafeInteger(max_age)) {
      throw new TypeError(`request.set_cookie: max_age of ${name} must be a whole number of seconds.`);
    }
    context.setCookie(name, value, max_age === undefined ? {} : { maxAge: max_age });
  },
};

import { type Config, isCookieName, SESSION_COOKIE, withoutHostPrefix } from "../config/index.ts";
import { requireClientContext, requireContext } from "./context-storage.ts";
import { isPrefetch, refuseEffect } from "./prefetch.ts";
import type { StringRecord } from "./request-context.ts";

/**
 * The current request. It is available in pages, server functions, routes, and all code that they call or start.
 *
 * @throws Error that names the member, when a member is used outside a request
 *
 * @see docs/protocol.md 2.10
 */
export const request = {
  /** The path, percent-encoded, without the query. */
  get path(): string {
    return requireContext("request.path").inbound.pathname;
  },
  /** The method, such as `GET` or `POST`. HEAD reads as `GET`, since it runs the same page. */
  get method(): string {
    const { method } = requireContext("request.method").inbound;
    return method === "HEAD" ? "GET" : method;
  },
  /** The query parameters. Of a repeated parameter, the last one counts. */
  get query(): StringRecord {
    return requireContext("request.query").query;
  },
  /** The headers, with names in lower case. */
  get headers(): StringRecord {
    return requireClientContext("request.headers").headers;
  },
  /** The cookies that the client sent, percent-decoded. */
  get cookies(): StringRecord {
    return requireClientContext("request.cookies").cookies;
  },
  /**
   * The address of the client: that of the connection or, behind trusted proxies, the one that they have added. Empty if
   * the host does not pass it.
   */
  get address(): string {
    return requireClientContext("request.address").address;
  },
  /**
   * Whether a browser requests the page before its link is clicked, and shows it only if it is clicked then. Cookies, the sign-in
   * and `publish` throw in such a request, and its response is 503.
   */
  get prefetch(): boolean {
    return isPrefetch(requireClientContext("request.prefetch"));
  },
  /** The request id. The response carries it as `X-Request-Id`. */
  get id(): string {
    const context = requireContext("request.id");
    // Clients can choose it. Not `useClient`: `before` may log it, and the page stays one for all clients.
    if (context.shared) throw context.shared.refuse("request.id");
    return context.id;
  },
  /**
   * Aborts when the client disconnects or the call exceeds its time limit. Pass it to `fetch` or a database driver to
   * stop work that is no longer needed. Its listeners run outside the request: `request` throws in them.
   */
  get signal(): AbortSignal {
    return requireContext("request.signal").signal;
  },
  /**
   * Sets a cookie on the response, with `Path=/; HttpOnly; SameSite=Lax`, and with `Secure` if `WEB_COOKIE_SECURE=1`.
   *
   * @param name letters, digits and `` !#$%&'*+-.^_`|~ ``
   * @param value any text; it is percent-encoded
   * @param options `max_age` in seconds. Without it, the cookie ends with the browser's session; `0` removes it.
   * @throws TypeError for options that are not an object, as in `set_cookie("a", "b", 60)`, an unknown option, an invalid name, value or `max_age`, and for the name of the session cookie
   * @throws RangeError if name and value together are over 4,096 bytes, which browsers do not store
   * @throws Error after the headers of the response have been sent
   */
  set_cookie(name: string, value: string, options: { readonly max_age?: number } = {}): void {
    const context = requireClientContext("request.set_cookie()");
    checkCookieName(name, context.config);
    checkCookieValue(name, value);
    checkCookieOptions(name, options);
    refuseEffect("request.set_cookie()");
    const { max_age } = options;
    if (max_age !== undefined && !Number.isSafeInteger(max_age)) {
      throw new TypeError(
        `request.set_cookie: max_age of ${name} is ${String(max_age)}. It must be a whole number of seconds.`,
      );
    }
    context.setCookie(name, value, max_age === undefined ? {} : { maxAge: max_age });
  },
};

function checkCookieOptions(name: string, options: unknown): asserts options is object {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    const isSeconds = typeof options === "number" && Number.isSafeInteger(options);
    throw new TypeError(
      `request.set_cookie: the options of ${name} must be an object. Received: ${describeOptions(options)}. For a ` +
        `lifetime, pass the seconds as { max_age: ${isSeconds ? options : 3600} }.`,
    );
  }
  const unknown = Object.keys(options).find((option) => option !== "max_age");
  if (unknown === undefined) return;
  throw new TypeError(`Unknown option ${unknown} in request.set_cookie(). Valid options: max_age.`);
}

function describeOptions(options: unknown): string {
  if (typeof options === "number") return `the number ${options}`;
  return options === null ? "null" : Array.isArray(options) ? "an array" : `a value of type ${typeof options}`;
}

function checkCookieName(name: unknown, config: Config): asserts name is string {
  if (typeof name !== "string" || !isCookieName(name)) {
    throw new TypeError(
      `request.set_cookie: ${JSON.stringify(name)} is not a valid cookie name. Use letters, digits, "-" and "_".`,
    );
  }
  if (isSessionCookie(name, config)) {
    throw new TypeError(
      `request.set_cookie: ${name} is the session cookie. Use session.login and session.logout to change it.`,
    );
  }
}

/** The value itself is never in a message: it may be a secret. */
function checkCookieValue(name: string, value: unknown): asserts value is string {
  if (typeof value !== "string" || !value.isWellFormed()) {
    throw new TypeError(
      `request.set_cookie: the value of ${name} must be a string without unpaired surrogates. ` +
        "Convert other values, for example with JSON.stringify.",
    );
  }
  const size = name.length + encodeURIComponent(value).length;
  if (size > MAX_COOKIE_BYTES) {
    throw new RangeError(
      `request.set_cookie: ${name} would be ${size} bytes, and browsers do not store cookies over ` +
        `${MAX_COOKIE_BYTES}. Store the data on the server, and an id in the cookie.`,
    );
  }
}

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

import { parse as parseCookies, serialize } from "cookie";
import type { Config } from "../config/index.ts";
import type { InboundRequest } from "./inbound-request.ts";

/** A frozen record of strings: the type of `request.query`, `request.headers` and `request.cookies`. */
export type StringRecord = Readonly<Record<string, string>>;

/** The attributes of a cookie that differ from cookie to cookie. */
export interface CookieAttributes {
  /** The lifetime in seconds. `0` removes the cookie. If absent, the cookie ends with the browser's session. */
  readonly maxAge?: number;
}

/** The values that a {@link RequestContext} is created from. */
export interface RequestContextInit {
  readonly inbound: InboundRequest;
  readonly id: string;
  readonly traceparent: string;
  readonly address: string;
  readonly config: Config;
  readonly bus?: unknown;
}

/**
 * The state of one request. `request` and `session` read from it, and write cookies to it until the headers of the
 * response have been sent.
 */
export class RequestContext {
  readonly inbound: InboundRequest;
  /** The request id. @see docs/protocol.md 2.3 */
  readonly id: string;
  /** The `traceparent` of the response. @see docs/protocol.md 2.4 */
  readonly traceparent: string;
  /** The address of the client, behind trusted proxies. @see docs/protocol.md 2.8 */
  readonly address: string;
  readonly config: Config;
  /** Whether the headers of the response have been sent. Cookies can then no longer be set. */
  headersSent = false;
  /** The session, stored and read by `session/` only, which has its type; `undefined` until it is first read. */
  session: unknown;
  /** The bus of the application, read by `live/` only, which has its type; `undefined` without an application. */
  readonly bus: unknown;

  #signal: AbortSignal | undefined;
  #timeoutSignal: AbortSignal | undefined;
  #query: StringRecord | undefined;
  #headers: StringRecord | undefined;
  #cookies: StringRecord | undefined;
  #setCookies: Map<string, string> | undefined;

  constructor(init: RequestContextInit) {
    this.inbound = init.inbound;
    this.id = init.id;
    this.traceparent = init.traceparent;
    this.address = init.address;
    this.config = init.config;
    this.bus = init.bus;
  }

  /** The request as a Fetch `Request`. Created on first use. */
  get raw(): Request {
    return this.inbound.request;
  }

  get url(): URL {
    return this.inbound.url;
  }

  /** Aborts when the client disconnects or the time limit of the call is over. Created on first use. */
  get signal(): AbortSignal {
    this.#signal ??= this.#timeoutSignal
      ? AbortSignal.any([this.inbound.signal, this.#timeoutSignal])
      : this.inbound.signal;
    return this.#signal;
  }

  /** Makes {@link signal} abort together with `timeoutSignal` too. Call it before `signal` is first read. */
  setTimeoutSignal(timeoutSignal: AbortSignal): void {
    this.#timeoutSignal = timeoutSignal;
  }

  get query(): StringRecord {
    this.#query ??= toStringRecord(this.url.searchParams);
    return this.#query;
  }

  get headers(): StringRecord {
    this.#headers ??= toStringRecord(this.inbound.headers);
    return this.#headers;
  }

  get cookies(): StringRecord {
    this.#cookies ??= toStringRecord(Object.entries(parseCookies(this.inbound.header("cookie") ?? "")));
    return this.#cookies;
  }

  /**
   * Sets a cookie on the response, with `Path=/; HttpOnly; SameSite=Lax`, and `Secure` with `WEB_COOKIE_SECURE=1`. It
   * replaces a cookie of the same name that was set before.
   *
   * @throws Error after the headers of the response have been sent
   * @see docs/protocol.md 2.10
   */
  setCookie(name: string, value: string, { maxAge }: CookieAttributes = {}): void {
    if (this.headersSent) {
      throw new Error(
        `The cookie "${name}" cannot be set: the headers of the response have already been sent. Set it before the ` +
          "function returns, or in a stream before the first yield.",
      );
    }
    this.#setCookies ??= new Map();
    const secure = this.config.cookieSecure;
    const age = maxAge === undefined ? {} : { maxAge };
    this.#setCookies.set(name, serialize(name, value, { path: "/", httpOnly: true, sameSite: "lax", secure, ...age }));
  }

  /** The `Set-Cookie` headers of the response. */
  get setCookieHeaders(): Iterable<string> {
    return this.#setCookies?.values() ?? [];
  }
}

/** Returns a frozen object without a prototype, so that names like `__proto__` are ordinary keys. */
function toStringRecord(entries: Iterable<readonly [string, string | undefined]>): StringRecord {
  const record: Record<string, string> = Object.create(null);
  for (const [name, value] of entries) if (value !== undefined) record[name] = value;
  return Object.freeze(record);
}

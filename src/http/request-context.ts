import { AsyncLocalStorage } from "node:async_hooks";
import { parse as parseCookies, serialize } from "cookie";
import type { Config } from "../config/index.ts";
import type { InboundRequest } from "./inbound-request.ts";

/** A frozen record of strings: what `request.query`, `request.headers` and `request.cookies` are. */
export type StringRecord = Readonly<Record<string, string>>;

/** What a cookie is written with, beside what every cookie of ours has. */
export interface CookieAttributes {
  /** Seconds until it is over; absent: until the browser closes. `0` removes it. */
  readonly maxAge?: number;
}

/** What the pipeline knows of one request: made once, carried through everything it starts. */
export interface RequestContextInit {
  readonly inbound: InboundRequest;
  readonly id: string;
  readonly traceparent: string;
  readonly address: string;
  readonly config: Config;
}

/**
 * One request on its way: read by `request` and `session`, and written to by them until the
 * first byte of the answer has left.
 */
export class RequestContext {
  readonly inbound: InboundRequest;
  readonly id: string;
  readonly traceparent: string;
  /** The client's address, after the proxies that are trusted. */
  readonly address: string;
  readonly config: Config;
  /** Set once the headers have left: cookies can no longer be written. */
  headersSent = false;
  /** Who is signed in, kept here for `session/`, which alone knows what it is; `undefined` until it is asked for. */
  session: unknown;

  #signal: AbortSignal | undefined;
  #limit: AbortSignal | undefined;
  #query: StringRecord | undefined;
  #headers: StringRecord | undefined;
  #cookies: StringRecord | undefined;
  #outgoing: Map<string, string> | undefined;

  constructor(init: RequestContextInit) {
    this.inbound = init.inbound;
    this.id = init.id;
    this.traceparent = init.traceparent;
    this.address = init.address;
    this.config = init.config;
  }

  /** The request by the Fetch standard. Made on first use. */
  get raw(): Request {
    return this.inbound.request;
  }

  get url(): URL {
    return this.inbound.url;
  }

  /** Aborts when the caller is gone or out of time. Made on first use: most requests never ask. */
  get signal(): AbortSignal {
    this.#signal ??= this.#limit ? AbortSignal.any([this.inbound.signal, this.#limit]) : this.inbound.signal;
    return this.#signal;
  }

  /** Makes {@link signal} abort with another one too: of a time limit. To be called before it is read. */
  setTimeoutSignal(limit: AbortSignal): void {
    this.#limit = limit;
  }

  get query(): StringRecord {
    this.#query ??= freeze(this.url.searchParams);
    return this.#query;
  }

  get headers(): StringRecord {
    this.#headers ??= freeze(this.inbound.headers);
    return this.#headers;
  }

  get cookies(): StringRecord {
    this.#cookies ??= freeze(Object.entries(parseCookies(this.inbound.header("cookie") ?? "")));
    return this.#cookies;
  }

  /**
   * Writes a cookie on the answer; a later one of the same name replaces it.
   *
   * @throws Error once the first byte of the answer has left
   */
  setCookie(name: string, value: string, { maxAge }: CookieAttributes = {}): void {
    if (this.headersSent) {
      throw new Error(
        `The cookie "${name}" cannot be set: the first bytes of this answer have left, and the headers with them. ` +
          "Set it before the function returns, in a stream before the first yield.",
      );
    }
    this.#outgoing ??= new Map();
    const secure = this.config.cookieSecure;
    const age = maxAge === undefined ? {} : { maxAge };
    this.#outgoing.set(name, serialize(name, value, { path: "/", httpOnly: true, sameSite: "lax", secure, ...age }));
  }

  /** The `Set-Cookie` lines of the answer so far. */
  get setCookieHeaders(): Iterable<string> {
    return this.#outgoing?.values() ?? [];
  }
}

function freeze(entries: Iterable<readonly [string, string | undefined]>): StringRecord {
  const fields: Record<string, string> = Object.create(null);
  for (const [name, value] of entries) if (value !== undefined) fields[name] = value;
  return Object.freeze(fields);
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs `work` as part of a request; all that it starts, awaits and schedules stays part of it. */
export function runInContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

/**
 * Runs `work` as part of no request: for timers and connections that outlive the request that happened
 * to be the first to need them.
 */
export function runOutsideRequests<T>(work: () => T): T {
  return storage.exit(work);
}

/**
 * Gives the request under way.
 *
 * @param asked what was asked for, for the message: `session.user()`
 * @throws Error outside a request, and says where it can be used
 */
export function requireContext(asked: string): RequestContext {
  const context = storage.getStore();
  if (context) return context;
  throw new Error(
    `${asked} was used outside a request. It works inside a page, a server function or a route, and in what they ` +
      "start; at module level, or in a timer set when the program began, there is no visitor to speak of.",
  );
}

import { parse as parseCookies, serialize } from "cookie";
import type { Config } from "../config/index.ts";
import type { BodyLimit } from "./body-limit.ts";
import { ContextKey, ContextValues, type SharedUse } from "./context-values.ts";
import type { InboundRequest } from "./inbound-request.ts";
import { CONNECTION_CLOSE, RequestError } from "./request-error.ts";
import { withoutReservedParameters } from "./request-url.ts";
import { checkHeader } from "./security-headers.ts";

/** A frozen record of strings: the type of `request.query`, `request.headers` and `request.cookies`. */
export type StringRecord = Readonly<Record<string, string>>;

/** The attributes of a cookie that differ from cookie to cookie. */
export interface CookieAttributes {
  /** The lifetime in seconds. `0` removes the cookie. If absent, the cookie ends with the browser's session. */
  readonly maxAge?: number;
}

/** A run of a query, which belongs to no request: its value is for all who see the same. */
export interface QueryRun {
  /** The name of the query, for messages. */
  readonly name: string;
  /** Whether its value is for receivers of several sign-ins, so that it must not depend on a session. */
  readonly isShared: boolean;
  /** Whether a shared run has read the session, also if the query has caught the error: its value is for nobody. */
  hasReadSession: boolean;
}

/** The values that a {@link RequestContext} is created from. */
export interface RequestContextInit {
  readonly inbound: InboundRequest;
  readonly id: string;
  readonly traceparent: string;
  readonly address: string;
  readonly config: Config;
  /** What the application provides for all its requests. Without it, they belong to no application. */
  readonly provided?: ContextValues;
  /** As the member of the context. Default: 0. */
  readonly revocationOrder?: number;
  /** Limits the bodies of the client. Without it, they are not counted. */
  readonly bodyLimit?: BodyLimit;
  /** The run of a query that the context is for, in place of a request. */
  readonly queryRun?: QueryRun;
}

/**
 * The state of one request. `request` and `session` read from it, and write cookies to it until the headers of the
 * response have been sent.
 */
export class RequestContext {
  readonly inbound: InboundRequest;
  /** The request id. @see docs/protocol.md 2.3 */
  readonly id: string;
  /** The address of the client, behind trusted proxies. @see docs/protocol.md 2.8 */
  readonly address: string;
  readonly config: Config;
  /** The run of a query, in place of a request: only the session, and what the application provides, can be used in it. */
  readonly queryRun: QueryRun | undefined;
  /** Whether the request is in the turn of the event loop in which it began, so that nothing can have changed since. */
  isInFirstTurn = false;
  /** How far the process had read the revocations when the request began, or when they were read for the first time. */
  revocationOrder: number;
  /** How far it had read them after the last revocation that the request itself has made; 0 without one. */
  ownRevocationOrder = 0;
  /** Whether the headers of the response have been sent or decided. Cookies can then no longer be set. */
  headersSent = false;
  /**
   * Set if the request cannot be answered at the moment. It is then the response, whatever the handler has done: also if
   * the application has caught the error.
   */
  unavailable: RequestError | undefined;
  /**
   * Whether the request carries a bearer token for `authenticate` of the application. It then has the user of the token, or none: its
   * session cookie is not read.
   */
  isBearer = false;
  /** Whether the response has been created, or a response that goes on has ended. What still runs is background work. */
  hasEnded = false;
  /** Whether the session stays as it was when the first byte of the page was sent, while its parts run. */
  isSessionKept = false;
  /** The number of parts of the page that have failed, after its status was sent. */
  failedParts = 0;
  /** Whether the request has changed nothing, regardless of its method: a stream, a query, a poll. */
  isRead = false;
  /** Whether the response must close the connection, because a part of the body may never be read. */
  closeConnection = false;
  /** Whether a route has received the body, and may read or hold it until its response has ended. */
  isBodyInRoute = false;

  /** Whether the application has read something that belongs to this client: its response is not one for all. */
  usesClient = false;
  /** Set while a page is rendered for all clients. */
  shared: SharedUse | undefined;

  /** The trace of the request; `undefined` without a tracing SDK. Set before anything of the request runs. */
  trace: RequestTrace | undefined;

  readonly #provided: ContextValues | undefined;
  #values: ContextValues | undefined;
  #startedAtMs: number | undefined;
  readonly #traceparent: string;
  readonly #bodyLimit: BodyLimit | undefined;
  /** The bytes of the body that count towards the limit; `null` once they were released. */
  #bodyBytes: number | null = 0;
  #bodyKey: string | undefined;
  #isBodyKept = false;
  #cleanups: (() => void)[] | undefined;
  #signal: AbortSignal | undefined;
  #timeoutSignal: AbortSignal | undefined;
  #url: URL | undefined;
  #query: StringRecord | undefined;
  #headers: StringRecord | undefined;
  #cookies: StringRecord | undefined;
  #setCookies: Map<string, string> | undefined;
  #responseHeaders: Map<string, string | null> | undefined;

  constructor(init: RequestContextInit) {
    this.inbound = init.inbound;
    this.id = init.id;
    this.#traceparent = init.traceparent;
    this.address = init.address;
    this.config = init.config;
    this.#provided = init.provided;
    this.revocationOrder = init.revocationOrder ?? 0;
    this.#bodyLimit = init.bodyLimit;
    this.queryRun = init.queryRun;
  }

  /** Returns the context of the same request without anything that was set in this one. Its cookies are sent to nobody. */
  fork(): RequestContext {
    const { inbound, id, address, config, revocationOrder, trace } = this;
    const provided = this.#provided && { provided: this.#provided };
    const fork = new RequestContext({
      inbound,
      id,
      traceparent: this.#traceparent,
      address,
      config,
      revocationOrder,
      ...provided,
    });
    fork.trace = trace;
    return fork;
  }

  /** Returns the value that was set with a key; otherwise the one that the application provides, if any. */
  get<T>(key: ContextKey<T>): T | undefined {
    const value = this.#values?.get(key);
    return value === undefined ? this.#provided?.get(key) : value;
  }

  /** Sets a value of this request. */
  set<T>(key: ContextKey<T>, value: T): void {
    this.#values ??= new ContextValues();
    this.#values.set(key, value);
  }

  /** The `traceparent` of the response. @see docs/protocol.md 2.4 */
  get traceparent(): string {
    return this.trace?.traceparent ?? this.#traceparent;
  }

  /**
   * The time at which the request began, by `Date.now`. The clock is read on first use, which is in the first turn of a request
   * that waits for anything: most calls do not, and it would take 6% of the time in which tsweb handles them.
   */
  get startedAtMs(): number {
    this.#startedAtMs ??= Date.now();
    return this.#startedAtMs;
  }

  /** Ends the first turn of the request. */
  endFirstTurn({ isWaiting }: { readonly isWaiting: boolean }): void {
    if (isWaiting) this.#startedAtMs ??= Date.now();
    this.isInFirstTurn = false;
  }

  /** The request as a Fetch `Request`. Created on first use. */
  get raw(): Request {
    return this.inbound.request;
  }

  /** The URL of the request, without the query parameters of tsweb. */
  get url(): URL {
    this.#url ??= withoutReservedParameters(this.inbound.url);
    return this.#url;
  }

  /** Aborts when the client disconnects or the time limit of the call is over. Created on first use. */
  get signal(): AbortSignal {
    this.#signal ??= this.#timeoutSignal ? firstAbort(this.inbound.signal, this.#timeoutSignal) : this.inbound.signal;
    return this.#signal;
  }

  /** Makes {@link signal} abort together with `timeoutSignal` too. Call it before `signal` is first read. */
  setTimeoutSignal(timeoutSignal: AbortSignal): void {
    this.#timeoutSignal = timeoutSignal;
  }

  /** Makes {@link signal} a new one, for work after the call: it aborts only when the client disconnects. */
  clearTimeoutSignal(): void {
    this.#timeoutSignal = undefined;
    this.#signal = undefined;
  }

  /**
   * Counts bytes of the body towards the limit of the client, until {@link releaseBody}.
   *
   * @throws RequestError `rate_limited` if the client has too many bytes in flight
   * @see docs/protocol.md 2.7
   */
  takeBodyBytes(bytes: number): void {
    if (!this.#bodyLimit || this.#bodyBytes === null) return;
    this.#bodyKey ??= this.#bodyLimit.keyOf(this.address);
    if (!this.#bodyLimit.take(this.#bodyKey, bytes)) throw tooManyBodyBytesError(this.#bodyLimit.maxBytes);
    this.#bodyBytes += bytes;
  }

  /** Releases the bytes of the body when the response is there, unless the handler keeps them. */
  releaseBody(): void {
    if (this.#isBodyKept) return;
    this.#releaseBody();
    this.hasEnded = true;
  }

  /** Releases the bytes of a body that was read and parsed, before the response is there: it may wait for long. */
  releaseParsedBody(): void {
    this.#releaseBody();
  }

  /** Keeps the bytes of the body counted after the response has started. Returns the function that releases them. */
  keepBody(): () => void {
    this.#isBodyKept = true;
    return () => this.#releaseBody();
  }

  /**
   * Calls a function when the request ends and its body is released: when the response is there, or later if the handler
   * keeps the body. Called at once if the body has been released. The function must not throw.
   */
  onBodyReleased(cleanup: () => void): void {
    if (this.#bodyBytes === null) cleanup();
    else if (this.#cleanups) this.#cleanups.push(cleanup);
    else this.#cleanups = [cleanup];
  }

  #releaseBody(): void {
    const cleanups = this.#cleanups;
    this.#cleanups = undefined;
    if (cleanups) for (const cleanup of cleanups) cleanup();
    if (this.#bodyBytes && this.#bodyKey !== undefined) this.#bodyLimit?.release(this.#bodyKey, this.#bodyBytes);
    this.#bodyBytes = null;
  }

  /**
   * Records that the application uses something that belongs to this client.
   *
   * @param use the public function or property, for the message: `session.user()`
   * @throws Error while a page is rendered for all clients
   */
  useClient(use: string): void {
    this.usesClient = true;
    if (this.shared) throw this.shared.refuse(use);
  }

  get query(): StringRecord {
    if (this.shared) return this.shared.query;
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
          "function returns, in a stream before the first yield, and in a page outside of <Later>.",
      );
    }
    this.#setCookies ??= new Map();
    const secure = this.config.cookieSecure;
    const age = maxAge === undefined ? {} : { maxAge };
    this.#setCookies.set(name, serialize(name, value, { path: "/", httpOnly: true, sameSite: "lax", secure, ...age }));
  }

  /**
   * Sets a header of the response, or removes it with `null`. It takes precedence over the security headers.
   *
   * @throws Error for a reserved name, an invalid name or value, and after the headers have been sent
   */
  setHeader(name: string, value: string | null): void {
    checkHeader(name, value, "set_header()");
    if (this.headersSent) {
      throw new Error(
        `The header ${name} cannot be set: the headers of the response have already been sent. Set it before \`before\` ` +
          "returns.",
      );
    }
    this.#responseHeaders ??= new Map();
    this.#responseHeaders.set(name.toLowerCase(), value);
  }

  /** The headers that were set, by their names in lower case; `undefined` without any. */
  get responseHeaders(): ReadonlyMap<string, string | null> | undefined {
    return this.#responseHeaders;
  }

  /**
   * Discards all cookies that were set, and with them a sign-in or sign-out: the client keeps the state that it had
   * before the request. Called when the request fails unexpectedly. It has no effect after the headers have been sent.
   *
   * @see docs/protocol.md 5.6
   */
  discardChanges(): void {
    if (this.headersSent) return;
    this.#setCookies = undefined;
    if (this.#values) ContextKey.discardCookies(this.#values); // the session is read from the request's cookie again
  }

  /** Returns whether the response sets or removes a cookie. */
  setsCookie(name: string): boolean {
    return this.#setCookies?.has(name) ?? false;
  }

  /**
   * The `Set-Cookie` headers of the response. Removals come last: curl 7.88 keeps a cookie whose removal is followed by another
   * cookie, so that a script would stay signed in.
   */
  get setCookieHeaders(): Iterable<string> {
    if (!this.#setCookies) return [];
    const cookies = [...this.#setCookies.values()];
    const isRemoval = (cookie: string) => cookie.includes("; Max-Age=0;");
    return [...cookies.filter((cookie) => !isRemoval(cookie)), ...cookies.filter(isRemoval)];
  }
}

/** How long a client should wait before it sends the body again, in seconds. */
const BODY_RETRY_SECONDS = 5;

function tooManyBodyBytesError(maxBytes: number): RequestError {
  const message =
    `Too many request bodies at once: the limit is ${maxBytes} bytes in flight for one client. Retry when earlier ` +
    "requests have been answered.";
  return new RequestError("rate_limited", message, {
    headers: CONNECTION_CLOSE,
    details: { retry_after: BODY_RETRY_SECONDS },
  });
}

/** Returns a frozen object without a prototype, so that names like `__proto__` are ordinary keys. */
function toStringRecord(entries: Iterable<readonly [string, string | undefined]>): StringRecord {
  const record: Record<string, string> = Object.create(null);
  for (const [name, value] of entries) if (value !== undefined) record[name] = value;
  return Object.freeze(record);
}

/**
 * Returns a signal that aborts with the first of several, with its reason. Unlike `AbortSignal.any` of Node 20, it is not
 * kept in memory after the signals: a process with many streams would grow.
 */
export function firstAbort(...signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
}

/** The trace that a request is a part of, while a tracing SDK is in use. */
export interface RequestTrace {
  /** The `traceparent` of the response: the trace, and the span of this request. */
  readonly traceparent: string;
  /** Runs work as a part of the request's span. Spans that it starts are children of that one. */
  run<T>(work: () => T): T;
}

import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type ByteCounter, type InboundRequest, originOf, readRequestText } from "../http/index.ts";
import { takeArrivedBody } from "./fast/index.ts";
import { exemptFromRequestTimeout } from "./own-time-limit.ts";
import { bodyOf, hasUndeclaredBody, hasUnreadBody, isParsed, readIncomingText } from "./request-body.ts";
import { hostOf, isPlainPath, isRepeated, targetOf, toHeaders } from "./request-head.ts";
import { isClosed } from "./response-end.ts";

/**
 * The headers of which Node keeps the first value only, whereas the Fetch standard joins all values. Content-Length is
 * not among them: Node's parser rejects a request that repeats it.
 *
 * @see https://nodejs.org/api/http.html#messageheaders
 */
const FIRST_VALUE_ONLY: ReadonlySet<string> = new Set([
  "age",
  "authorization",
  "content-type",
  "etag",
  "expires",
  "from",
  "host",
  "if-modified-since",
  "if-unmodified-since",
  "last-modified",
  "location",
  "max-forwards",
  "proxy-authorization",
  "referer",
  "retry-after",
  "server",
  "user-agent",
]);

/** A request of Node's server. Each Fetch object is made on first use: most calls need none of them. */
export class NodeInboundRequest implements InboundRequest {
  publicOrigin: string | undefined;
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  #pathname: string | undefined;
  #url: URL | undefined;
  #headers: Headers | undefined;
  #signal: AbortSignal | undefined;
  #request: Request | undefined;

  constructor(incoming: IncomingMessage, response: ServerResponse) {
    this.#incoming = incoming;
    this.#response = response;
  }

  get request(): Request {
    this.#request ??= this.#createRequest();
    return this.#request;
  }

  get method(): string {
    return this.#incoming.method ?? "GET";
  }

  get pathname(): string {
    this.#pathname ??= this.#readPathname();
    return this.#pathname;
  }

  get url(): URL {
    this.#url ??= new URL(`${this.#scheme()}://${hostOf(this.#incoming)}${targetOf(this.#incoming)}`);
    return this.#url;
  }

  get origin(): string {
    const { host } = this.#incoming.headers;
    const scheme = this.#scheme();
    // Most servers have one name. Without a Host header the origin differs between connections.
    if (host === undefined || host !== lastOrigin.host || scheme !== lastOrigin.scheme) {
      lastOrigin = { host, scheme, origin: originOf(this.url) };
    }
    return lastOrigin.origin;
  }

  get address(): string {
    return this.#incoming.socket.remoteAddress ?? "";
  }

  get headers(): Headers {
    this.#headers ??= toHeaders(this.#incoming.rawHeaders);
    return this.#headers;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#createSignal();
    return this.#signal;
  }

  header(name: string): string | null {
    const { headers, rawHeaders } = this.#incoming;
    const value = headers[name];
    if (value === undefined) return null;
    const isComplete = typeof value === "string" && !(FIRST_VALUE_ONLY.has(name) && isRepeated(name, rawHeaders));
    return isComplete ? value : this.headers.get(name);
  }

  bufferedBody(): string | null {
    return takeArrivedBody(this.#incoming)?.toString() ?? null;
  }

  get bodyUsed(): boolean {
    return this.#request?.bodyUsed ?? false;
  }

  get hasUndeclaredBody(): boolean {
    return hasUndeclaredBody(this.#incoming);
  }

  get enforcesLength(): boolean {
    return hasUnreadBody(this.#incoming);
  }

  get contentEncoding(): string | null {
    const encoding = this.header("content-encoding");
    return encoding !== null && isParsed(this.#incoming) ? null : encoding;
  }

  get hasHiddenBody(): boolean {
    return false;
  }

  ownTimeLimit(): void {
    exemptFromRequestTimeout(this.#incoming);
  }

  readText(count: ByteCounter): Promise<string> {
    const isDirect = this.#request === undefined && hasUnreadBody(this.#incoming);
    return isDirect ? readIncomingText(this.#incoming, count) : readRequestText(this.request, count);
  }

  #readPathname(): string {
    const target = targetOf(this.#incoming);
    if (isPlainPath(target)) return target;
    const end = target.indexOf("?");
    const path = end === -1 ? target : target.slice(0, end);
    return isPlainPath(path) ? path : this.url.pathname;
  }

  #scheme(): "http" | "https" {
    // Only TLS sockets of Node have the property; Bun's sockets all have it.
    const { socket } = this.#incoming;
    return "encrypted" in socket && socket.encrypted ? "https" : "http";
  }

  #createRequest(): Request {
    const { method, headers, signal, publicOrigin } = this;
    const { origin, href, pathname, search } = this.url;
    const url = publicOrigin === undefined || publicOrigin === origin ? href : `${publicOrigin}${pathname}${search}`;
    // Node requires `duplex` for a streamed body; its types do not have the option.
    const init: RequestInit & { duplex: "half" } = {
      method,
      headers,
      signal,
      body: bodyOf(this.#incoming, this.#response),
      duplex: "half",
    };
    return new Request(url, init);
  }

  #createSignal(): AbortSignal {
    const controller = new AbortController();
    // The listener refers to `this`, and so keeps the `Request` alive: its own signal follows this one weakly. It runs in the
    // context of the request, and so do the listeners of the application. Node emits `close` in that of the connection.
    const abortUnlessSent = () => {
      if (!this.#response.writableEnded) controller.abort();
    };
    if (isClosed(this.#response)) abortUnlessSent();
    else this.#response.once("close", AsyncResource.bind(abortUnlessSent));
    return controller.signal;
  }
}

let lastOrigin: { readonly host: string | undefined; readonly scheme: string; readonly origin: string } = {
  host: undefined,
  scheme: "",
  origin: "",
};

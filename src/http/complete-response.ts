import { Buffer } from "node:buffer";
import { SIGNED_OUT_COOKIE } from "../config/index.ts";
import { JSON_TYPE, NDJSON_TYPE, REQUEST_ID_HEADER, TRACEPARENT_HEADER } from "../protocol/index.ts";
import {
  areSharedHeaders,
  type HandlerResponse,
  isResponse,
  type OutboundResponse,
  PRIVATE_NO_STORE,
} from "./handler-response.ts";
import { clearsPrefetches, isPrefetch } from "./prefetch.ts";
import type { RequestContext } from "./request-context.ts";
import type { ResponseSecurity, SecurityHeaders } from "./security-headers.ts";

/**
 * Returns a response with everything that all responses have: the request id, `traceparent`, the cookies that were set,
 * and the security headers. Every response of an application is completed here, on every platform.
 *
 * Headers that the response already has are kept. Afterwards `context.headersSent` is `true`: setting a cookie throws
 * from here on, since it could no longer be sent.
 *
 * @see docs/protocol.md 2.3 to 2.6
 */
export function completeResponse(
  response: HandlerResponse | Response,
  context: RequestContext,
  security: ResponseSecurity,
): OutboundResponse | Response {
  const outbound = isResponse(response)
    ? completeFetchResponse(response, context, security.documents)
    : completeHandlerResponse(response, context, security);
  context.headersSent = true;
  return outbound;
}

function completeHandlerResponse(
  response: HandlerResponse,
  context: RequestContext,
  security: ResponseSecurity,
): OutboundResponse {
  const removesPages = removesKeptPages(response, context);
  const responseHeaders = headersForClient(response, context);
  const added = { security, clears: clearsPrefetches(context) };
  const sharedHeaders = sharedHeaderLines(response, context, added);
  const headers = sharedHeaders?.slice() ?? headerLines({ ...response, headers: responseHeaders }, context, added);
  headers.push(REQUEST_ID_HEADER, context.id, TRACEPARENT_HEADER, context.traceparent);
  if (removesPages) headers.push("clear-site-data", '"cache"');
  for (const cookie of context.setCookieHeaders) headers.push("set-cookie", cookie);
  if (context.inbound.method !== "HEAD")
    return { status: response.status, headers, sharedHeaders, body: response.body };
  const length = lengthOf(response);
  if (length !== null && responseHeaders["content-length"] === undefined)
    headers.push("content-length", String(length));
  return { status: response.status, headers, body: null };
}

/**
 * Returns whether a page is the first one after a sign-out over HTTP: then it empties the caches of the site, because WebKit keeps
 * pages for Back that it loaded over HTTP, although they are `no-store`. Over HTTPS it does not keep them, and no cache is emptied.
 * Browsers obey the header on `localhost` only, and ignore it on other sites without HTTPS.
 *
 * @see docs/security.md, The Back button
 */
function removesKeptPages({ headers }: HandlerResponse, context: RequestContext): boolean {
  if (context.config.cookieSecure || !headers?.["content-type"]?.startsWith("text/html")) return false;
  if (isPrefetch(context)) return false; // the page may never be shown
  if (context.setsCookie(SIGNED_OUT_COOKIE)) return true; // the next page does it again: this one may be shown by Back
  if (!context.inbound.header("cookie")?.includes(`${SIGNED_OUT_COOKIE}=1`)) return false;
  context.setCookie(SIGNED_OUT_COOKIE, "", { maxAge: 0 });
  return true;
}

/**
 * Returns the headers of a response. If it is one for all clients, and the application has read something of this client, or has set a cookie
 * or a header for it, in `before`, no cache may store it: another client would get it without `before`, or with what was set. The same
 * holds for the file of a static page with a cookie: `no-cache` lets shared caches store it, with the cookie.
 */
function headersForClient(
  { headers = {} }: HandlerResponse,
  context: RequestContext,
): Readonly<Record<string, string>> {
  const cacheControl = headers["cache-control"];
  if (cacheControl === undefined || cacheControl.startsWith("private")) return headers;
  const isForAll = !cacheControl.startsWith("public") || (!context.usesClient && !context.responseHeaders);
  return isForAll && !hasCookies(context) ? headers : { ...headers, ...PRIVATE_NO_STORE };
}

function hasCookies({ setCookieHeaders }: RequestContext): boolean {
  for (const _ of setCookieHeaders) return true;
  return false;
}

const CLEAR_PREFETCHES = '"prefetchCache"';

/** What the application adds to the headers of a response. */
interface AddedHeaders {
  readonly security: ResponseSecurity;
  /** Whether the browser has to clear the pages that it has prefetched. */
  readonly clears: boolean;
}

function headerLines(response: HandlerResponse, context: RequestContext, { security, clears }: AddedHeaders): string[] {
  const responseHeaders = response.headers ?? {};
  const headers: string[] = [];
  for (const name in responseHeaders) headers.push(name, responseHeaders[name] ?? "");
  if (context.closeConnection && responseHeaders.connection === undefined) headers.push("connection", "close");
  const setHeaders = context.responseHeaders;
  for (const [name, value] of securityOf(response, security)) {
    if (responseHeaders[name] === undefined && !setHeaders?.has(name)) headers.push(name, value);
  }
  if (setHeaders) {
    for (const [name, value] of setHeaders) {
      if (value !== null && responseHeaders[name] === undefined) headers.push(name, value);
    }
  }
  if (clears) headers.push("clear-site-data", CLEAR_PREFETCHES);
  return headers;
}

/** The header lines of responses with shared headers, by the headers and the security headers. */
type SharedLines = WeakMap<object, WeakMap<SecurityHeaders, readonly string[]>>;

const sharedLines: SharedLines = new WeakMap();

/** Those of responses that clear prefetched pages: of each call, if there are several processes. */
const clearingLines: SharedLines = new WeakMap();

/**
 * Returns the header lines of a response but those of its ids and cookies, if they are the same for many responses; `null` if
 * they are not.
 */
function sharedHeaderLines(
  response: HandlerResponse,
  context: RequestContext,
  added: AddedHeaders,
): readonly string[] | null {
  const { headers } = response;
  if (!areSharedHeaders(headers) || context.closeConnection || context.responseHeaders) return null;
  const security = securityOf(response, added.security);
  const shared = added.clears ? clearingLines : sharedLines;
  const bySecurity = shared.get(headers) ?? new WeakMap<SecurityHeaders, readonly string[]>();
  const known = bySecurity.get(security);
  if (known) return known;
  const lines = headerLines(response, context, added);
  shared.set(headers, bySecurity.set(security, lines));
  return lines;
}

function securityOf({ headers, security }: HandlerResponse, { documents, data }: ResponseSecurity): SecurityHeaders {
  const type = headers?.["content-type"];
  return security ?? (type === JSON_TYPE || type === NDJSON_TYPE ? data : documents);
}

/** Returns the length that the body of GET has, in bytes; `null` if it is not known. @see RFC 9110, section 8.6 */
function lengthOf({ status, body }: HandlerResponse): number | null {
  if (status === 204 || status === 304) return null;
  if (body === null) return 0;
  return typeof body === "string" || body instanceof Uint8Array ? Buffer.byteLength(body) : null;
}

function completeFetchResponse(routeResponse: Response, context: RequestContext, security: SecurityHeaders): Response {
  const response = copyResponse(routeResponse, context);
  const { headers } = response;
  const setHeaders = context.responseHeaders;
  for (const [name, value] of security) if (!headers.has(name) && !setHeaders?.has(name)) headers.set(name, value);
  for (const [name, value] of setHeaders ?? []) if (value !== null && !headers.has(name)) headers.set(name, value);
  if (context.closeConnection) headers.set("connection", "close");
  headers.set(REQUEST_ID_HEADER, context.id);
  headers.set(TRACEPARENT_HEADER, context.traceparent);
  if (clearsPrefetches(context)) headers.append("clear-site-data", CLEAR_PREFETCHES);
  for (const cookie of context.setCookieHeaders) headers.append("set-cookie", cookie);
  if (context.isBearer) headers.append("vary", "Authorization");
  if (headers.has("set-cookie") || context.isBearer) {
    // A shared cache would store the cookie, even a session, and send it to other users. It does not matter who has set
    // it: tsweb, the route itself, or the server from which the route has fetched the response. @see RFC 9111, section 7.3
    // What the holder of a token receives is for the holder, too.
    if (!isPrivate(headers.get("cache-control"))) headers.set("cache-control", PRIVATE_NO_STORE["cache-control"]);
    removeTargetedCacheControl(headers);
  }
  return response;
}

/**
 * Removes the headers that caches of CDNs obey in place of `Cache-Control`: `CDN-Cache-Control`, those of single services such as
 * `Cloudflare-CDN-Cache-Control`, and the older `Surrogate-Control`.
 *
 * @see RFC 9213, section 2.2
 */
function removeTargetedCacheControl(headers: Headers): void {
  for (const name of [...headers.keys()]) {
    if (/(?:^|-)cdn-cache-control$|^surrogate-control$/.test(name)) headers.delete(name);
  }
}

/** Returns whether a `Cache-Control` header keeps the whole response out of shared caches. */
function isPrivate(cacheControl: string | null): boolean {
  return (cacheControl ?? "").split(",").some((directive) => /^\s*(private|no-store)\s*$/i.test(directive));
}

/**
 * Returns a copy of a route's response for this request alone.
 *
 * A route may return one `Response` without a body for many requests. Without the copy, a cookie that was set for one
 * user, even the session, would be sent to the next. The headers of a response of `fetch` or `Response.redirect` are
 * also immutable.
 *
 * If the response has no `Cache-Control`, the copy forbids caching.
 *
 * @see docs/protocol.md 11.4
 */
function copyResponse(response: Response, context: RequestContext): Response {
  const { body, status, statusText } = response;
  const isHead = context.inbound.method === "HEAD";
  const headers = proxiedHeaders(response);
  for (const [name, value] of Object.entries(PRIVATE_NO_STORE)) if (!headers.has(name)) headers.set(name, value);
  if (!isHead || body === null) {
    const kept = body && context.isBodyInRoute ? keepBodyUntilEnd(body, context) : body;
    return new Response(kept, { status, statusText, headers });
  }
  // Without cancel(), the file or connection behind a body that is never read would stay open.
  body.cancel().catch(() => undefined);
  // For `null`, Bun and Deno send `Content-Length: 0`, which would be the length of GET.
  return new Response(headers.has("content-length") ? null : emptyStream(), { status, statusText, headers });
}

/** Returns a stream that ends when it is read. Bun takes one that has ended before for a body of length 0. */
function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.close() }, { highWaterMark: 0 });
}

/** Headers that apply to one connection only and must not be forwarded. @see RFC 9110, section 7.6.1 */
const HOP_BY_HOP_HEADERS = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/** The content codings that `fetch` decodes on every platform that accepts them. */
const DECODED_CODINGS: ReadonlySet<string> = new Set(["br", "deflate", "gzip", "x-gzip"]);

/**
 * Returns the headers to send with a route's response, as a new object.
 *
 * A response that was created here keeps all of its headers. From a response that a route fetched from another server
 * and proxies, two kinds are removed:
 *
 * - hop-by-hop headers, which describe the connection to that server;
 * - `Content-Encoding` and `Content-Length`, if `fetch` has decoded the body but left these headers unchanged. With
 *   the wrong length, the client could not read the body, and the rest of it could be parsed as the next response on
 *   the connection (response splitting).
 *
 * When unsure, the headers stay: they are removed only if every coding is one that `fetch` decodes.
 *
 * @see docs/protocol.md 11.4
 */
export function proxiedHeaders({ url, headers, body }: Response): Headers {
  const proxied = new Headers(headers);
  const isFetched = url !== ""; // the Fetch standard sets `url` on responses of `fetch` only
  if (!isFetched) return proxied;
  for (const name of HOP_BY_HOP_HEADERS) proxied.delete(name);
  const codings = proxied.get("content-encoding")?.split(",") ?? [];
  if (body === null || codings.length === 0 || !codings.every(isDecodedByFetch)) return proxied;
  proxied.delete("content-encoding");
  proxied.delete("content-length");
  return proxied;
}

function isDecodedByFetch(coding: string): boolean {
  return DECODED_CODINGS.has(coding.trim().toLowerCase());
}

/**
 * How many chunks of the response are read in advance: the only chunk of a text and the end after it. The bytes of the
 * request are then released also if the host never reads such a response.
 */
const CHUNKS_IN_ADVANCE = 2;

/**
 * Returns the body of a route's response as a stream that keeps the bytes of the request body counted until it has
 * ended or failed, was cancelled, or the client has disconnected.
 *
 * @throws TypeError if the body was read already or is being read
 */
function keepBodyUntilEnd(
  responseBody: ReadableStream<Uint8Array>,
  context: RequestContext,
): ReadableStream<Uint8Array> {
  const reader = responseBody.getReader();
  const releaseBody = context.keepBody();
  const { signal } = context.inbound; // not every host cancels the body when the client disconnects
  const release = () => {
    signal.removeEventListener("abort", release);
    releaseBody();
    context.hasEnded = true;
  };
  if (signal.aborted) release();
  else signal.addEventListener("abort", release);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
        } catch (error) {
          release();
          throw error;
        }
        release();
        controller.close();
      },
      cancel(reason) {
        release();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: CHUNKS_IN_ADVANCE },
  );
}

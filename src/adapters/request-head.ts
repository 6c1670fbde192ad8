import type { IncomingMessage, ServerResponse } from "node:http";
import {
  errorBody,
  idHeaders,
  isCallPath,
  isUnambiguousTarget,
  isValidHost,
  PRIVATE_NO_STORE,
  requestIds,
  unreadableRequestResponse,
} from "../http/index.ts";
import { JSON_TYPE } from "../protocol/index.ts";

/** Express keeps the whole request target here: below a mount path, `url` lacks the prefix. */
interface MountedRequest extends IncomingMessage {
  readonly originalUrl?: unknown;
}

/** Returns the path and the query of the request target as the client sent them, also below a mount path. */
export function targetOf(request: MountedRequest): string {
  const target = sentTarget(request);
  const { path } = absoluteForm(target) ?? { path: target };
  return path;
}

function sentTarget(request: MountedRequest): string {
  return typeof request.originalUrl === "string" ? request.originalUrl : (request.url ?? "");
}

/** Returns the parts of a target in absolute form, as clients of proxies send it; `null` for any other. @see RFC 9112, section 3.2.2 */
function absoluteForm(target: string): { readonly host: string; readonly path: string } | null {
  if (target.startsWith("/")) return null;
  const [, host, path = ""] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [];
  return host === undefined ? null : { host, path: path.startsWith("/") ? path : `/${path}` };
}

/**
 * Makes the host of a target in absolute form that of the request, in place of the header: the header has to be ignored.
 *
 * @see RFC 9112, section 3.2.2
 */
export function adoptTargetHost(request: IncomingMessage): void {
  const absolute = absoluteForm(sentTarget(request));
  if (!absolute) return;
  request.headers.host = absolute.host;
  const { rawHeaders } = request;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === "host") rawHeaders[i + 1] = absolute.host;
  }
}

/** Returns the host in the request's header; for HTTP/1.0 requests without one, the address of the connection. */
export function hostOf(request: IncomingMessage): string {
  const named = namedHost(request);
  if (named !== undefined) return named;
  const { localAddress, localFamily, localPort } = request.socket;
  if (localAddress === undefined) return "localhost";
  return `${localFamily === "IPv6" ? `[${localAddress.replace(/%.*$/, "")}]` : localAddress}:${localPort}`;
}

/** Matches paths that `URL` returns unchanged: without a query, percent-encoding, empty segments, `.` and `..`. */
const PLAIN_PATH = /^\/$|^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/;

/** Paths of earlier requests that match it: most requests are for one of them. Lives as long as the process. */
const plainPaths = new Set<string>();

/** The bounds of what is kept of them. When the set is full, it is emptied. */
const MAX_PLAIN_PATHS = 1000;
const MAX_KEPT_LENGTH = 200;

/** Returns whether a request target is a path that `URL` returns unchanged, so that no `URL` is needed. */
export function isPlainPath(target: string): boolean {
  if (plainPaths.has(target)) return true;
  if (!PLAIN_PATH.test(target)) return false;
  if (target.length <= MAX_KEPT_LENGTH) {
    if (plainPaths.size >= MAX_PLAIN_PATHS) plainPaths.clear();
    // A copy: V8 keeps the whole text in memory that a part was cut from, here the query of the request too.
    plainPaths.add(Buffer.from(target, "latin1").toString("latin1"));
  }
  return true;
}

/** HTTP/2 names the host in the pseudo-header `:authority`. */
function namedHost({ headers }: IncomingMessage): string | undefined {
  const host = headers.host ?? headers[":authority"];
  return typeof host === "string" ? host : undefined;
}

/**
 * Returns whether a request's target and host form a URL. HTTP allows targets and hosts that `URL` throws on, or
 * reads in another way than a proxy in front does.
 */
export function isUsableTarget(request: IncomingMessage): boolean {
  const target = targetOf(request);
  // Refuses `OPTIONS *`.
  if (!isPlainPath(target) && !(target.startsWith("/") && isUnambiguousTarget(target))) return false;
  // A repeated Host can be read in two ways: by us, and by a proxy in front. @see RFC 9112, section 3.2
  const host = namedHost(request);
  if ((host !== undefined && !isUsableHost(host)) || isRepeated("host", request.rawHeaders)) return false;
  const absolute = absoluteForm(sentTarget(request));
  return absolute === null || isUsableHost(absolute.host);
}

let lastUsableHost = "localhost";

/** Returns whether a host forms a URL. The last such host is cached, because most servers have one name. */
function isUsableHost(host: string): boolean {
  if (host === lastUsableHost) return true;
  if (!isValidHost(host)) return false;
  lastUsableHost = host;
  return true;
}

/** Sends 400 for a request whose target cannot be read, with the ids of the request. */
export function rejectTarget(request: IncomingMessage, response: ServerResponse): void {
  const { headers } = request;
  const single = (value: string | string[] | undefined) => (typeof value === "string" ? value : null);
  const rejection = unreadableRequestResponse(targetOf(request), (name) => single(headers[name]));
  response.writeHead(rejection.status, [...rejection.headers]);
  response.end(rejection.body);
}

/** How many headers a request may have, minus one. Of more, Node's parser keeps the first ones and drops the others in silence. */
const MAX_HEADERS = 1_000;

/**
 * Returns whether headers of a request may have been dropped: those that a proxy has appended, such as `X-Forwarded-For`, come last.
 * A server of your own may keep fewer (`maxHeadersCount`).
 *
 * @see https://nodejs.org/api/http.html#servermaxheaderscount
 */
export function mayLackHeaders({ rawHeaders, socket }: IncomingMessage): boolean {
  const { server } = socket as { readonly server?: { readonly maxHeadersCount?: number | null } | null }; // Node sets it
  const kept = Math.min(server?.maxHeadersCount || MAX_HEADERS, MAX_HEADERS);
  return rawHeaders.length >= 2 * kept;
}

/** Sends 431 for a request with too many headers, without those that it has. */
export function rejectHeaders(request: IncomingMessage, response: ServerResponse): void {
  reject(request, response, { status: 431, message: "The request has too many headers: it may have at most 999." });
}

/**
 * Returns whether a body has another transfer coding than `chunked`: Node's parser accepts `gzip, chunked`, and would pass the
 * compressed bytes as the body.
 *
 * @see RFC 9112, section 6.1
 */
export function hasUnknownTransferCoding({ headers }: IncomingMessage): boolean {
  const coding = headers["transfer-encoding"];
  return coding !== undefined && coding.trim().toLowerCase() !== "chunked";
}

/** Sends 501 for such a request. */
export function rejectTransferCoding(request: IncomingMessage, response: ServerResponse): void {
  const message = "The request has a Transfer-Encoding other than chunked. Send the body without it.";
  reject(request, response, { status: 501, message });
}

/** The response to a request that no application gets. */
export interface Rejection {
  readonly status: number;
  readonly message: string;
}

function reject(request: IncomingMessage, response: ServerResponse, { status, message }: Rejection): void {
  const isCall = isCallPath(targetOf(request), null);
  const body = isCall ? errorBody("validation_error", message) : `${message}\n`;
  response.writeHead(status, {
    "content-type": isCall ? JSON_TYPE : "text/plain; charset=utf-8",
    ...PRIVATE_NO_STORE,
    "content-length": Buffer.byteLength(body),
    "x-content-type-options": "nosniff",
    connection: "close",
    ...Object.fromEntries(idHeaders(requestIds(() => null))),
  });
  response.end(body);
}

/** Converts `rawHeaders`, Node's flat list of names and values, to `Headers`. HTTP/2 pseudo-headers such as `:path` are left out. */
export function toHeaders(rawHeaders: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (!name.startsWith(":")) headers.append(name, rawHeaders[i + 1] ?? "");
  }
  return headers;
}

/**
 * Returns whether a header was sent more than once.
 *
 * @param name in lower case
 */
export function isRepeated(name: string, rawHeaders: readonly string[]): boolean {
  return countOf(name, rawHeaders) > 1;
}

/**
 * Returns how often a header was sent.
 *
 * @param name in lower case
 */
export function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i];
    if (sent?.length === name.length && (sent === name || sent.toLowerCase() === name)) count++;
  }
  return count;
}

/**
 * Returns the values of a header, joined as in the Fetch standard; `null` if it was not sent. Without an object of all headers, which
 * `request.headers` makes.
 *
 * @param name in lower case
 */
export function rawHeader(name: string, rawHeaders: readonly string[]): string | null {
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
  return values.length === 0 ? null : values.join(", ");
}

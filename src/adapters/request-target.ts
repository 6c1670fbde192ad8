import type { IncomingMessage, ServerResponse } from "node:http";
import { isUnambiguousTarget, isValidHost, unreadableRequestResponse } from "../http/index.ts";
import { isRepeated } from "./raw-headers.ts";

/** Express keeps the whole request target here: below a mount path, `url` lacks the prefix. */
interface MountedRequest extends IncomingMessage {
  readonly originalUrl?: unknown;
}

/** Returns the request target as the client sent it, also below a mount path. */
export function targetOf(request: MountedRequest): string {
  return typeof request.originalUrl === "string" ? request.originalUrl : (request.url ?? "");
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
  // Refuses the absolute form, which only proxies serve, and `OPTIONS *`.
  if (!isPlainPath(target) && !(target.startsWith("/") && isUnambiguousTarget(target))) return false;
  // A repeated Host can be read in two ways: by us, and by a proxy in front. @see RFC 9112, section 3.2
  const host = namedHost(request);
  return (host === undefined || isUsableHost(host)) && !isRepeated("host", request.rawHeaders);
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
export function rejectTarget({ headers }: IncomingMessage, response: ServerResponse): void {
  const single = (value: string | string[] | undefined) => (typeof value === "string" ? value : null);
  const rejection = unreadableRequestResponse((name) => single(headers[name]));
  response.writeHead(rejection.status, [...rejection.headers]);
  response.end(rejection.body);
}

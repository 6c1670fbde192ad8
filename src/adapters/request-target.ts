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
  if (!target.startsWith("/")) return false; // absolute form, which only proxies serve, and `OPTIONS *`
  if (!isUnambiguousTarget(target)) return false;
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

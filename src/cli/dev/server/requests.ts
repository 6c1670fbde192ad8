import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { NodeHandler } from "../../../adapters/index.ts";
import {
  createSecurityHeaders,
  errorBody,
  idHeaders,
  isCallPath,
  PRIVATE_NO_STORE,
  requestIds,
} from "../../../http/index.ts";

/** The hosts that the project's Vite config allows besides loopback hosts: `server.allowedHosts`. */
export type AllowedHosts = true | readonly string[] | undefined;

/** Who sent a request: the address of the other end of the connection, and the Host header. */
export interface Client {
  readonly address: string | undefined;
  readonly host: string | undefined;
}

/**
 * Returns whether a request comes from this machine, and names it as its host. Both can differ:
 *
 * - A site can point its own name at 127.0.0.1 (DNS rebinding). The developer's browser then connects from this
 *   machine, but names the host of that site.
 * - With `HOST=0.0.0.0`, another machine in the network can send `Host: localhost`.
 */
export function isThisMachine({ address = "", host }: Client): boolean {
  return isLoopbackHost(hostName(host)) && /^(?:::1|(?:::ffff:)?127(?:\.\d{1,3}){3})$/i.test(address);
}

/** Headers that proxies add. A tunnel to this machine connects from this machine, and may send `Host: localhost`. */
const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"] as const;

/**
 * Returns whether a proxy has forwarded a request, for example a tunnel that makes the server public.
 *
 * @param header returns a header; `undefined` or `null` if the request has none of the name
 */
export function isForwarded(header: (name: string) => unknown): boolean {
  return PROXY_HEADERS.some((name) => (header(name) ?? null) !== null);
}

/** The options of {@link allowOnlyThisMachine}. */
export interface AccessOptions {
  readonly allowedHosts: AllowedHosts;
  /** The base path of the application; `null` before it was loaded for the first time. */
  readonly base: string | null;
}

/**
 * Rejects requests that neither come from this machine nor name a host that the project's Vite config allows. Otherwise
 * other sites and other machines could read the application's source, and use the application with cookies whose key can
 * be guessed.
 */
export function allowOnlyThisMachine({ allowedHosts, base }: AccessOptions, next: NodeHandler): NodeHandler {
  return (request, response) => {
    if (isAllowed(request, allowedHosts)) return next(request, response);
    const { headers, socket, url = "" } = request;
    const message =
      `The development server does not serve this request from ${socket.remoteAddress} for the host ` +
      `${JSON.stringify(headers.host ?? "")}. On the same machine, open http://localhost. To allow other machines or ` +
      "hosts, add the host to server.allowedHosts in vite.config.ts.";
    const body = isCallPath(url.split("?", 1)[0] ?? "", base)
      ? { type: "application/json", text: errorBody("forbidden", message) }
      : { text: `${message}\n` };
    respondWithText(request, response, { status: 403, ...body });
  };
}

/** Responds with a text that no cache may store, and closes the connection. */
export function respondWithText(
  request: IncomingMessage,
  response: ServerResponse,
  {
    status,
    text,
    type = "text/plain; charset=utf-8",
  }: { readonly status: number; readonly text: string; readonly type?: string },
): void {
  setHeaders(request, response);
  response.writeHead(status, { "content-type": type, ...PRIVATE_NO_STORE, connection: "close" });
  response.end(request.method === "HEAD" ? undefined : text);
}

/**
 * Passes WebSocket connections of this application's pages to Vite's server, and closes all others. Browsers send the
 * WebSocket requests of any site, with `Origin`.
 *
 * @param vite receives the accepted connections; it does not listen itself
 */
export function guardUpgrades(http: Server, vite: Server, allowedHosts: () => AllowedHosts): void {
  http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (isAllowed(request, allowedHosts()) && isOwnPage(request, allowedHosts())) {
      // During a restart, the new Vite listens too, and would close the connection.
      vite.listeners("upgrade").at(0)?.call(vite, request, socket, head);
      return;
    }
    socket.on("error", () => undefined); // the client may have disconnected
    socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });
}

function isAllowed({ headers: { host }, socket }: IncomingMessage, allowedHosts: AllowedHosts): boolean {
  return isThisMachine({ address: socket.remoteAddress, host }) || isAllowedHost(hostName(host), allowedHosts);
}

/** Returns whether the page that opens a connection has the host of the request, or one that the Vite config allows. */
function isOwnPage({ headers: { origin = "", host } }: IncomingMessage, allowedHosts: AllowedHosts): boolean {
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  if (page.host === host?.toLowerCase()) return true;
  return Array.isArray(allowedHosts) && isAllowedHost(page.hostname, allowedHosts); // `true` allows hosts, not origins
}

/** Returns the name in a Host header, in lower case; an empty string without one. */
function hostName(host = ""): string {
  const name = /^(?<name>\[[0-9a-f:.]+\]|[^:]+)(?::\d*)?$/i.exec(host)?.groups?.name ?? "";
  return name.toLowerCase().replace(/\.$/, "");
}

/** Returns whether a host can only be this machine. `127.0.0.1.evil.example` is a name, not an address. */
function isLoopbackHost(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Matches as Vite does: a dot at the front allows subdomains. */
function isAllowedHost(name: string, allowedHosts: AllowedHosts): boolean {
  if (allowedHosts === true) return true;
  return (allowedHosts ?? []).some((allowed) =>
    allowed.startsWith(".") ? name === allowed.slice(1) || name.endsWith(allowed) : name === allowed,
  );
}

// Modules and other files need nothing of the build tool in their policy.
const SECURITY_HEADERS = createSecurityHeaders({ buildTool: null, secure: false });

/** Sets the headers that every response has, for responses that do not come from the application. */
export function setHeaders({ headers }: IncomingMessage, response: ServerResponse): void {
  const single = (value: string | string[] | undefined) => (typeof value === "string" ? value : null);
  const ids = requestIds((name) => single(headers[name]));
  for (const [name, value] of [...SECURITY_HEADERS, ...idHeaders(ids)]) response.setHeader(name, value);
}

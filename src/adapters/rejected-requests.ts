/**
 * Responses to requests that Node's HTTP server rejects before a handler sees them. Node's own responses have neither
 * ids nor a body that clients of calls can read.
 *
 * @see docs/protocol.md 2.4 and 2.9
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { errorBody, idHeaders, isCallPath, PRIVATE_NO_STORE, requestIds } from "../http/index.ts";
import { JSON_TYPE } from "../protocol/index.ts";
import { currentResponse, maxHeaderSize, STATUS_CODES, stopParsing } from "./fast/index.ts";
import { isExemptFromRequestTimeout, type RequestHandler } from "./own-time-limit.ts";
import { countOf, type Rejection } from "./request-head.ts";

/** How long a client may take to read the response before its connection is destroyed. */
const LINGER_MS = 1_000;

/** What could be read of a rejected request. */
interface RequestHead {
  readonly path: string;
  /** Returns a header; `null` if it is missing or was sent more than once. */
  header(name: string): string | null;
}

/** An error that Node emits with `clientError`. */
interface ClientError extends NodeJS.ErrnoException {
  /** The parser's reason. */
  readonly reason?: string;
  /** The bytes that the parser received last. */
  readonly rawPacket?: Buffer;
}

/** The servers of hosts, such as that of an Express application, whose requests a handler has received. */
const mountedServers = new WeakSet<Server>();

/**
 * Does what {@link answerRejectedRequests} does for the server of a request, once, unless its host has listeners of its own. A
 * handler knows its server from the first request on only.
 */
export function answerRejectedRequestsOnce({ socket, httpVersionMajor }: IncomingMessage): void {
  // Node sets `server` on each connection of its HTTP servers; its types omit it.
  const { server } = socket as Socket & { readonly server?: Server };
  if (!server || httpVersionMajor !== 1 || mountedServers.has(server)) return;
  mountedServers.add(server);
  if (server.listenerCount("clientError") + server.listenerCount("checkExpectation") > 0) return;
  answerRejectedRequests(server, null);
}

/**
 * Makes a server send its own responses to requests that Node rejects: malformed, too large, too slow, `Expect`.
 *
 * @param base the application's base path; `null` if it is not known
 */
export function answerRejectedRequests(server: Server, base: string | null): void {
  server.on("clientError", (error: ClientError, socket: Socket) => rejectOnSocket(error, socket, base));
  server.on("checkExpectation", (request, response) => {
    reject(request, response, { rejection: { status: 417, message: "Only Expect: 100-continue is supported." }, base });
  });
}

/** Returns a handler that rejects HTTP/1.1 requests without `Host`, for a server with `requireHostHeader: false`. */
export function requireHost(next: RequestHandler, base: string): RequestHandler {
  const rejection = { status: 400, message: "The request has no Host header, which HTTP/1.1 requires." };
  return (request, response) => {
    // `headers` would make an object of all headers of a request that waits, see pipelining.ts.
    if (request.httpVersion === "1.1" && countOf("host", request.rawHeaders) === 0)
      reject(request, response, { rejection, base });
    else next(request, response);
  };
}

interface RejectOptions {
  readonly rejection: Rejection;
  readonly base: string | null;
}

function reject(request: IncomingMessage, response: ServerResponse, { rejection, base }: RejectOptions): void {
  const { headers, body } = rejectionResponse(rejection, headOf(request), base);
  // The response closes the connection, so no later request is answered. Each of the thousands that 64 KiB can contain would
  // have a response in memory for as long as the response to an earlier request lasts.
  stopParsing(request.socket);
  response.writeHead(rejection.status, headers).end(body);
}

function rejectOnSocket(error: ClientError, socket: Socket, base: string | null): void {
  // Node does not close the connection itself if there is a listener for this error.
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && isExemptFromRequestTimeout(socket)) return;
  const current = currentResponse(socket);
  if (!socket.writable || current?.headersSent) {
    socket.destroy(error);
    return;
  }
  const rejection = rejectionFor(error);
  const head = current ? headOf(current.req) : parseHead(error.rawPacket);
  const { headers, body } = rejectionResponse(rejection, head, base);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${rejection.status} ${STATUS_CODES[rejection.status]}\r\n${lines.join("")}\r\n${body}`);
  // Not destroyed at once: unread bytes would reset the connection, and the client would lose the response.
  socket.pause();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(timer));
}

function rejectionFor({ code, reason, message }: ClientError): Rejection {
  switch (code) {
    case "HPE_HEADER_OVERFLOW": // since Node 22, also for more than 1,000 headers
      return {
        status: 431,
        message: `The URL and the headers are larger than ${maxHeaderSize} bytes, or there are more than 999 headers.`,
      };
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, message: "The extensions of the body's chunks are too large." };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, message: "The request took too long to arrive." };
    default:
      return { status: 400, message: `The request is not valid HTTP: ${reason ?? message}` };
  }
}

function rejectionResponse({ message }: Rejection, head: RequestHead | null, base: string | null) {
  const isCall = head !== null && isCallPath(head.path, base);
  const body = isCall ? errorBody("validation_error", message) : `${message}\n`;
  const headers: Record<string, string> = {
    "content-type": isCall ? JSON_TYPE : "text/plain; charset=utf-8",
    ...PRIVATE_NO_STORE,
    "content-length": String(Buffer.byteLength(body)),
    "x-content-type-options": "nosniff",
    ...Object.fromEntries(idHeaders(requestIds((name) => head?.header(name) ?? null))),
    connection: "close",
  };
  return { headers, body };
}

function headOf({ url = "", headersDistinct }: IncomingMessage): RequestHead {
  return { path: url, header: (name) => onlyValue(headersDistinct[name] ?? []) };
}

/** Reads what a rejected packet contains of a request's head; `null` if it does not begin with a request line. */
function parseHead(packet: Buffer | undefined): RequestHead | null {
  const [head = ""] = (packet?.toString("latin1") ?? "").split("\r\n\r\n");
  const [requestLine = "", ...fields] = head.split("\r\n");
  const [, path] = /^\S+ (?:https?:\/\/[^/\s]*)?(\/\S*)/i.exec(requestLine) ?? [];
  if (path === undefined) return null;
  const header = (name: string) => {
    const lines = fields.filter((field) => field.toLowerCase().startsWith(`${name}:`));
    return onlyValue(lines.map((line) => line.slice(name.length + 1).trim()));
  };
  return { path, header };
}

const onlyValue = ([value, ...others]: readonly string[]) => (others.length === 0 ? (value ?? null) : null);

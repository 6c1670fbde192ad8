/**
 * The modules of Node's HTTP and TLS servers, loaded without `import`.
 *
 * `import` reads every export of a module of Node, and the export `WebSocket` of `node:http` loads the whole of `fetch`: since
 * Node 22, a third of the processor time until a small application answers.
 */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

const http = process.getBuiltinModule("node:http");

export const {
  createServer,
  IncomingMessage: NodeRequest,
  maxHeaderSize,
  ServerResponse: NodeResponse,
  STATUS_CODES,
} = http;

/** Returns whether a server is one of `node:http`: neither TLS nor HTTP/2. */
export function isHttpServer(server: object): server is Server {
  return server instanceof http.Server;
}

/** Returns whether a server has TLS, and whether it is one of `node:https`. Loads their modules: not for servers of `node:http`. */
export function tlsOf(server: object): { readonly isTls: boolean; readonly isHttps: boolean } {
  const tls = process.getBuiltinModule("node:tls");
  const https = process.getBuiltinModule("node:https");
  return { isTls: server instanceof tls.Server, isHttps: server instanceof https.Server };
}

// The members of Node without a public name that protections need. Each function has an answer for a runtime or a version that
// lacks the member.

/**
 * Returns the response that is using a connection with HTTP/1; `null` if there is none. Node assigns a connection to one
 * response at a time, in the order of the requests.
 */
export function currentResponse(socket: Socket & { readonly _httpMessage?: unknown }): ServerResponse | null {
  // Node has no public name for it. Servers of other packages that lack the field order pipelined requests themselves.
  const { _httpMessage: current } = socket;
  return typeof current === "object" && current !== null ? (current as ServerResponse) : null;
}

/**
 * Releases the text of headers that were sent, about 2 KiB, for a response that stays open for minutes. Node keeps it, but
 * only reads whether there is one.
 */
export function releaseSentHeaders(
  response: ServerResponse & { _header?: unknown; readonly _headerSent?: unknown },
): void {
  // Node has no public name for it. In a version that lacks the fields, nothing is released.
  if (response._headerSent === true && typeof response._header === "string") response._header = SENT_HEADERS;
}

const SENT_HEADERS = "HTTP/1.1 200 OK\r\n\r\n";

/** Node's parser of a connection with HTTP/1. */
interface Parser {
  onIncoming?: unknown;
}

/** What a parser returns for a request after which no HTTP follows (`CONNECT`): it then parses no more. */
const NO_MORE_HTTP = 2;

/**
 * Makes Node ignore all further requests on a connection that was destroyed, or closes after the response to the last one. It would
 * make objects of all requests that have arrived, some thousands in 64 KiB, and keep them: those of a destroyed connection until all
 * connections that have received something were read.
 */
export function stopParsing(socket: Socket & { readonly parser?: Parser | null }): void {
  // Node has no public name for it. In a version that lacks the field, the bytes are parsed.
  const { parser } = socket;
  if (parser && "onIncoming" in parser) parser.onIncoming = () => NO_MORE_HTTP;
}

/** Node's list of the connections of a server with HTTP/1, by which it limits how long a request may arrive. */
interface ConnectionList {
  active?(): readonly { readonly socket?: Socket | null }[];
}

/**
 * Returns the connections with HTTP/1 whose next request is still arriving, headers or body, and the new ones. Those that are idle
 * after a response, or whose request has arrived as a whole, are not among them: they are closed when they are idle, or limited as a
 * call or stream.
 */
export function arrivingConnections(server: object): ReadonlySet<Socket> {
  // Node has no public name for it, only for closing those that are idle, or all. In a version that lacks it, none is returned.
  const name = Object.getOwnPropertySymbols(server).find(({ description }) => description === LIST_NAME);
  const list: ConnectionList | undefined = name && Reflect.get(server, name);
  return new Set(list?.active?.().flatMap(({ socket }) => (socket && !socket.destroyed ? [socket] : [])));
}

/** Since Node 18.0. */
const LIST_NAME = "http.server.connections";

/** What Node's handle of a connection counts, in bytes: all writes, and what the system has not taken of them. */
export interface ByteCounters {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** A handle. With TLS, it encrypts, and its parent sends. */
interface Handle extends Partial<ByteCounters> {
  readonly _parent?: Handle | null;
}

/** A connection with its handle. Node's own timeout of connections reads the same field. */
type ConnectionWithHandle = Socket & { readonly _handle?: Handle | null };

/** Returns what Node counts of a connection; `undefined` on other runtimes, and for a connection that has closed. */
export function byteCountersOf(socket: ConnectionWithHandle | null): ByteCounters | undefined {
  const handle = socket?._handle;
  const { bytesWritten, writeQueueSize } = handle?._parent ?? handle ?? {};
  return bytesWritten === undefined || writeQueueSize === undefined ? undefined : { bytesWritten, writeQueueSize };
}

/** Returns whether an open connection has no counters: on runtimes other than Node. */
export function hidesByteCounters(socket: ConnectionWithHandle | null): boolean {
  return (socket?._handle ?? undefined) !== undefined && byteCountersOf(socket) === undefined;
}

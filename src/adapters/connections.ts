/**
 * The open connections of a server, so that it can stop without cutting off requests: which of them are handling a
 * request, and since when the others are silent.
 */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Session } from "node:http2";
import type { Server, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { clientAddress } from "../http/index.ts";
import { clientKey } from "../rate-limit/index.ts";
import { arrivingConnections, currentResponse, isHttpServer, tlsOf } from "./fast/index.ts";
import { closeAfterResponse } from "./response-end.ts";

/** What is known about a connection. */
interface Activity {
  readonly bytesRead: number;
  /** When it was first seen without a request since it had received these bytes; `null` while it handles a request. */
  readonly silentSinceMs: number | null;
}

/** The connections of one server, from the time of its creation on. */
export class Connections {
  readonly #server: Server;
  /** Every TCP connection; below TLS, those whose handshake is not complete too. */
  readonly #transports = new Set<Socket>();
  /** The connections with HTTP/1. */
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  /** The responses of HTTP/2 that have not ended. */
  readonly #streams = new Set<ServerResponse>();
  readonly #activities = new WeakMap<Socket, Activity>();

  /** @param server a server of `node:http`, `node:https` or `node:http2` that has no connections yet */
  constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket: Socket) => track(this.#transports, socket));
    if (isHttpServer(server)) {
      server.on("connection", (socket: Socket) => track(this.#sockets, socket));
      return;
    }
    const { isTls, isHttps } = tlsOf(server);
    if (isTls) {
      server.on("secureConnection", (socket: TLSSocket) => {
        if (socket.alpnProtocol !== "h2") track(this.#sockets, socket);
      });
    }
    if (isHttps) return;
    server.on("session", (session: ServerHttp2Session) => track(this.#sessions, session));
    server.on("request", (_request: IncomingMessage, response: ServerResponse) => {
      if ("stream" in response) track(this.#streams, response);
    });
  }

  /** The responses that have not ended. */
  get inFlight(): readonly ServerResponse[] {
    return [...this.#streams, ...[...this.#sockets].flatMap((socket) => currentResponse(socket) ?? [])];
  }

  /** The connections with HTTP/1 whose request is still arriving, the oldest first. */
  *arriving(): Generator<ArrivingConnection<Socket>> {
    const arriving = arrivingConnections(this.#server);
    for (const connection of this.#sockets) {
      const { remoteAddress: address } = connection;
      if (address !== undefined && arriving.has(connection)) yield { connection, address };
    }
  }

  /** Makes every connection end after its next response, or the current one if its headers were not sent yet. */
  closeAfterResponses(): void {
    this.#server.prependListener("request", (_request: IncomingMessage, response: ServerResponse) =>
      closeAfterResponse(response),
    );
    for (const response of this.inFlight) closeAfterResponse(response);
    for (const session of this.#sessions) session.close();
    this.#server.on("session", (session: ServerHttp2Session) => session.close());
  }

  /** Notes which connections are silent, for {@link closeSilent}. */
  observe(): void {
    const now = performance.now();
    for (const socket of this.#sockets) this.#silenceOf(socket, now);
  }

  /**
   * Closes the connections that handle no request and have received nothing for `ms`. Connections are read once more before they
   * are checked, so a request that arrived while the event loop was blocked keeps its connection open.
   *
   * @param ms for 0, connections whose request is still arriving are not closed
   */
  closeSilent(ms: number): void {
    // Timers run before the event loop reads from connections, `setImmediate` after it.
    const untilMs = performance.now();
    setImmediate(() => this.#closeSilentUntil(untilMs, ms));
  }

  #closeSilentUntil(untilMs: number, ms: number): void {
    const now = performance.now();
    if (ms === 0 && "closeIdleConnections" in this.#server) (this.#server as HttpServer).closeIdleConnections();
    for (const socket of this.#sockets) {
      const silentMs = this.#silenceOf(socket, now);
      // Node does not count a connection as idle if a browser opened it in advance and has sent nothing yet.
      if (silentMs !== null && silentMs - (now - untilMs) >= ms && (ms > 0 || socket.bytesRead === 0)) socket.destroy();
    }
    // What is left are TLS handshakes.
    if (this.#sockets.size === 0 && this.#sessions.size === 0) this.#destroyTransports();
  }

  /** Closes all connections, also those that handle requests. */
  destroy(): void {
    for (const each of [...this.#sockets, ...this.#sessions]) each.destroy();
    this.#destroyTransports();
  }

  #destroyTransports(): void {
    for (const transport of this.#transports) transport.destroy();
  }

  /** Returns for how many milliseconds a connection has been silent at least; `null` if it is not known to be silent. */
  #silenceOf(socket: Socket, now: number): number | null {
    const { bytesRead } = socket;
    const isHandling = currentResponse(socket) !== null;
    const { bytesRead: readBefore, silentSinceMs = null } = this.#activities.get(socket) ?? {};
    if (!isHandling && readBefore === bytesRead && silentSinceMs !== null) return now - silentSinceMs;
    // Event streams stay like this for minutes.
    if (isHandling && readBefore === bytesRead && silentSinceMs === null) return null;
    this.#activities.set(socket, { bytesRead, silentSinceMs: isHandling ? null : now });
    return null;
  }
}

/** Adds something to a set until it closes. */
function track<T extends { once(event: "close", listener: () => void): unknown }>(set: Set<T>, each: T): void {
  set.add(each);
  each.once("close", () => set.delete(each));
}

// The share of the connections of a server that one client may use for requests that are still arriving.
//
// Such a connection costs its client nothing: it needs no byte for 10 seconds, and each time one is closed the client opens the
// next. Without a share, one machine would hold all connections, and the server would refuse everyone else.

/** Of all connections, how many one client may hold with requests that are still arriving: one of so many. */
const SHARES = 4;

/** A connection whose request is still arriving. */
interface ArrivingConnection<T> {
  readonly connection: T;
  /** The address of its other end. */
  readonly address: string;
}

/** The connections of one client that exceed its share. */
interface Excess<T> {
  /** The client, see {@link clientKey}. */
  readonly client: string;
  readonly connections: readonly T[];
}

/**
 * Returns the connections that each client has above its share, a quarter of the maximum and at least 1: the oldest ones, since the
 * request of an honest client arrives soon after it has connected.
 *
 * @param arriving the connections whose request is still arriving, the oldest first
 * @param maxConnections the maximum number of connections of the server; without a limit, nothing exceeds a share
 * @see docs/configuration.md, "Open files"
 */
export function connectionsAboveShare<T>(
  arriving: Iterable<ArrivingConnection<T>>,
  maxConnections: number,
): readonly Excess<T>[] {
  const share = Math.max(1, Math.floor(maxConnections / SHARES));
  const clients = new Map<string, T[]>();
  for (const { connection, address } of arriving) {
    const client = clientKey(clientAddress(address, null, 0));
    const connections = clients.get(client);
    if (connections) connections.push(connection);
    else clients.set(client, [connection]);
  }
  return [...clients]
    .filter(([, connections]) => connections.length > share)
    .map(([client, connections]) => ({ client, connections: connections.slice(0, connections.length - share) }));
}

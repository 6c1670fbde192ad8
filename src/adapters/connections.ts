/**
 * The open connections of a server, so that it can stop without cutting off requests: which of them are handling a
 * request, and since when the others are silent.
 */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Session } from "node:http2";
import type { Server, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { ArrivingConnection } from "./connection-share.ts";
import { currentResponse, isArriving, isHttpServer, tlsOf } from "./fast/index.ts";
import { closeAfterResponse } from "./response-state.ts";

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
    for (const connection of this.#sockets) {
      const { remoteAddress: address } = connection;
      if (address !== undefined && isArriving(connection)) yield { connection, address };
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

import cluster from "node:cluster";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { App } from "../app.ts";
import { BODY_SECONDS } from "../http/index.ts";
import type { Log } from "../logging/index.ts";
import { node } from "./node.ts";
import { isSupervisor, STOP, supervise } from "./workers.ts";

/** How long a request's headers have to arrive: a client that sends them byte by byte holds a connection no longer. */
const HEADERS_TIMEOUT_MS = 10_000;

/** How often it is looked after. */
const CHECK_MS = 2_000;

/**
 * How long a request has to arrive whole, body included: for a body that nobody reads. One that is read is refused
 * in its own time, which comes first: of what Node refuses, the answer says nothing, not even its ids.
 */
const REQUEST_TIMEOUT_MS = HEADERS_TIMEOUT_MS + BODY_SECONDS * 1000 + 2 * CHECK_MS;

/** How long calls in flight have to end once the server is told to stop. */
const SHUTDOWN_MS = 30_000;

/** A server that is listening. */
export interface Listening {
  /** As `http://localhost:3000`. */
  readonly address: string;
  /** Stops accepting, waits for calls in flight, and resolves when the last has ended. */
  stop(): Promise<void>;
}

/** Why a server cannot listen, said in full by its message. */
class ListenError extends Error {
  override get name(): string {
    return "ListenError";
  }
}

/** Listens where the configuration says. */
export async function listenOn(
  server: Server,
  where: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const sockets = socketsOf(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, where)));
    server.listen(where.port, where.host, resolve);
  });
  return { address: addressOf(server, where.host), stop: () => stop(server, sockets) };
}

function explain(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): Error {
  if (error.code !== "EADDRINUSE") return error;
  return new ListenError(
    `Port ${port} of ${host} is taken. Stop what listens there, or set PORT to another (0: any free one).`,
  );
}

function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe
  const name = ["0.0.0.0", "::", "127.0.0.1", "::1"].includes(host) ? "localhost" : host;
  return `http://${name}:${port}`;
}

/** Keeps a set of the connections that are open. */
function socketsOf(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

async function stop(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const unasked = new WeakSet<Socket>();
  const sweep = setInterval(() => {
    // A connection that was in use when we stopped falls idle later; nothing else would end it.
    server.closeIdleConnections();
    // One that a browser opened ahead of need is not idle, as Node sees it: nothing was asked on it yet. Or it was,
    // and has arrived, and is read before the next look.
    for (const socket of sockets) {
      if (socket.bytesRead > 0) continue;
      if (unasked.has(socket)) socket.destroy();
      unasked.add(socket);
    }
  }, 50);
  const deadline = setTimeout(() => server.closeAllConnections(), SHUTDOWN_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}

/** What Node's server is told. */
export const LIMITS = {
  requestTimeout: REQUEST_TIMEOUT_MS,
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: CHECK_MS,
  keepAliveTimeout: 65_000, // longer than the usual proxy keeps a connection: it must not be us who closes it first
} as const;

/**
 * Serves a built application until it is told to stop: the last line of `dist/server.mjs`.
 *
 * `SIGTERM` and `SIGINT` stop it: `/readyz` says so at once, live connections end, calls in flight are
 * waited for, then the process exits with 0. A second signal ends it there and then.
 *
 * A promise that fails and that nobody waits for, an `await` that was forgotten, is an error in the log.
 *
 * With `WEB_WORKERS` the program runs in so many processes, which share the port.
 */
export async function serve(app: App): Promise<void> {
  const { config, log } = app;
  if (isSupervisor(config.workers)) return supervise(config.workers);
  outliveLostPromises(log);
  const server = createServer(LIMITS, node(app));
  await app.start();
  const listening = await listenOn(server, config);
  log.info({ address: listening.address }, `Listening at ${listening.address}`);
  whenTold(async (why) => {
    log.info({ signal: why }, "Stopping: waiting for calls in flight");
    app.drain();
    await listening.stop();
    await app.close();
    process.exit(0);
  });
}

/** Node would end the process, and every visitor's connection with it, for one that a single call has lost. */
function outliveLostPromises(log: Log): void {
  process.on("unhandledRejection", (err) => {
    log.error({ err }, "A promise failed that nobody waited for. Await it, or catch what it fails with");
  });
}

/** Calls `end` once, when this process is told to stop. */
function whenTold(end: (why: string) => void): void {
  let isTold = false;
  const tell = (why: string) => {
    // One of several processes may be told twice, by the one above and by whoever stops them all.
    if (isTold && cluster.isPrimary) process.exit(1);
    if (!isTold) end(why);
    isTold = true;
  };
  process.on("SIGTERM", tell).on("SIGINT", tell);
  if (cluster.isPrimary) return;
  process.on("message", (message) => {
    if (message === STOP) tell(STOP);
  });
  process.on("disconnect", () => tell("disconnect")); // the process above is gone
}

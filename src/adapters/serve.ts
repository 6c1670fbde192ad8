import cluster from "node:cluster";
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import type { App } from "../app.ts";
import { BODY_TIMEOUT_SECONDS } from "../bodies/index.ts";
import type { Config } from "../config/index.ts";
import { type Logger, logEvent } from "../logging/index.ts";
import { relayMetrics } from "../observe/index.ts";
import { type AppInternals, requireInternals } from "../server/index.ts";
import { Connections } from "./connections.ts";
import {
  announceKeepAlive,
  closesIdleConnections,
  createServer,
  fastServerOptions,
  watchIdleConnections,
} from "./fast/index.ts";
import { guardFileDescriptors, readDescriptorUse, warnIfLimitIsLow } from "./file-descriptors.ts";
import { node } from "./node.ts";
import { limitArrival } from "./own-time-limit.ts";
import { answerRejectedRequests, requireHost } from "./rejected-requests.ts";
import { prepareStop } from "./stoppable.ts";
import { isSupervisor, stopSignalOf, supervise } from "./workers.ts";

/**
 * Serves an application on `HOST` and `PORT` until the process receives `SIGTERM` or `SIGINT`. Resolves once the server
 * accepts connections, or once a signal has stopped the start. `dist/server.mjs` calls it.
 *
 * The server listens when `app.start()` has completed: a proxy sends requests to it from then on.
 *
 * After a signal, the server stops as {@link stoppable} describes, and the process exits: with status 1 if requests were cut
 * off, otherwise with 0. A second signal exits immediately with status 1.
 *
 * A rejected promise without a handler, such as a forgotten `await`, is logged as an error and does not end the process. An
 * uncaught exception is logged as one line, and the process exits with status 1.
 *
 * With `WEB_WORKERS` above 1, the program runs in that many processes, which share the port.
 *
 * @throws TypeError if `app` is not an `App`
 * @throws ListenError when the port is in use
 * @throws ConfigError as `App.start`
 */
export async function serve(app: App): Promise<void> {
  const { config } = app;
  const { log, logCrash, metrics } = requireInternals(app, "serve()");
  if (isSupervisor(config.workers)) {
    relayMetrics();
    return supervise(config.workers, logEvent);
  }
  logUnhandledRejections(log);
  process.on("uncaughtException", (error) => void logCrash(error).then(() => process.exit(1)));
  ignoreOutputErrors();
  const limited = "deno" in process.versions ? limitArrival(node(app), SERVER_LIMITS.requestTimeout) : node(app);
  const handler = requireHost(limited, app.base);
  const closesIdle = closesIdleConnections(process.versions);
  const server = createServer(serverOptions(process.versions), closesIdle ? announceKeepAlive(handler) : handler);
  answerRejectedRequests(server, app.base);
  const connections = new Connections(server);
  if (closesIdle) watchIdleConnections(connections);
  const { stop, logInterruption } = prepareStop(server, app, connections);
  let metricsServer: MetricsServer | undefined;
  const stopAndExit = async (reason: string) => {
    const { stopSeconds } = config;
    // Nobody is left to accept connections for while a new supervisor may need the port.
    const drainSeconds = reason === "disconnect" || !server.listening ? 0 : config.drainSeconds;
    log.info({ signal: reason, drainSeconds, stopSeconds }, "Stopping: waiting for requests in flight");
    const { cut } = await stop({ drainSeconds, stopSeconds });
    metricsServer?.close(); // readable while requests in flight are completed
    try {
      if (cut === 0) log.info({}, "Stopped");
    } finally {
      process.exit(cut > 0 ? 1 : 0); // also if `on_stop` has closed what a log of the application writes to
    }
  };
  const stopping = onStop(stopAndExit, logInterruption);
  await app.start();
  if (stopping.aborted) return; // the process is about to exit
  const { address } = await listenOn(server, config);
  // After the port of the application: the supervisor takes the first port on which a process listens for it.
  if (metrics && config.metricsPort !== undefined) {
    metricsServer = await serveMetrics(config, { metrics, log });
  }
  const use = readDescriptorUse();
  if (cluster.isPrimary || cluster.worker?.id === 1) warnIfLimitIsLow(use, log); // once for all processes
  // Behind a proxy, all connections are those of the proxy. It waits for whole requests itself, or limits its clients.
  guardFileDescriptors(server, { use, log, connections: config.trustProxy === 0 ? connections : undefined });
  log.info({ address }, `Listening at ${address}`);
  if (metricsServer) log.info({ address: metricsServer.address }, `Metrics at ${metricsServer.address}`);
}

/** Without a listener, Node would exit on the rejected promise of a single call, and cut every other connection. */
function logUnhandledRejections(log: Logger): void {
  process.on("unhandledRejection", (err) => {
    log.error({ err }, "Unhandled promise rejection. Await the promise, or catch its error");
  });
}

/**
 * Ignores errors of the streams that `console.log` of the application writes to: without a listener, Node would exit
 * when the reader of a pipe has ended.
 */
function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}

/**
 * Calls `stop` once: on `SIGTERM`, `SIGINT` or `SIGHUP`, or in a worker when the supervisor stops it or ends. In a worker,
 * `SIGHUP` has no effect: the supervisor receives it too, and restarts the workers.
 *
 * @param interrupt called before a second signal ends the process
 * @returns a signal that aborts when `stop` is called
 */
function onStop(stop: (reason: string) => void, interrupt: (signal: string) => void): AbortSignal {
  const stopping = new AbortController();
  const handle = (reason: string) => {
    // A worker may be stopped twice: by its supervisor, and by a signal to the whole process group.
    if (stopping.signal.aborted && cluster.isPrimary) {
      try {
        interrupt(reason);
      } finally {
        process.exit(1);
      }
    }
    if (stopping.signal.aborted) return;
    stopping.abort();
    stop(reason);
  };
  process.on("SIGTERM", handle).on("SIGINT", handle);
  process.on("SIGHUP", (signal) => cluster.isPrimary && handle(signal));
  if (cluster.isPrimary) return stopping.signal;
  process.on("message", (message) => {
    const signal = stopSignalOf(message);
    if (signal !== undefined) handle(signal);
  });
  process.on("disconnect", () => handle("disconnect")); // the supervisor has ended
  return stopping.signal;
}

/** How long a request's headers may take to arrive: limits clients that send them byte by byte (Slowloris). */
const HEADERS_TIMEOUT_MS = 10_000;

/** How often Node checks its time limits. */
const CHECK_INTERVAL_MS = 2_000;

/**
 * How long a request may take to arrive, body included. It limits bodies that no handler reads. A body that is read
 * has a shorter limit.
 */
const REQUEST_TIMEOUT_MS = HEADERS_TIMEOUT_MS + BODY_TIMEOUT_SECONDS * 1000 + 2 * CHECK_INTERVAL_MS;

/** The limits of our own server. */
export const SERVER_LIMITS = {
  requestTimeout: REQUEST_TIMEOUT_MS,
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: CHECK_INTERVAL_MS,
  requireHostHeader: false, // requireHost() rejects such requests, with ids
} as const;

/**
 * Returns the options of our own server.
 *
 * @param versions `process.versions`
 */
export function serverOptions(versions: Readonly<Record<string, string | undefined>>): ServerOptions {
  return { ...SERVER_LIMITS, ...fastServerOptions(versions) };
}

/** The metrics of an application, and its log. */
interface MetricsSite {
  readonly metrics: NonNullable<AppInternals["metrics"]>;
  readonly log: Logger;
}

/** A server for the metrics on a port of their own. */
export interface MetricsServer {
  /** The URL of the metrics. */
  readonly address: string;
  /** Stops at once: a request for metrics is repeated. */
  close(): void;
}

/**
 * Serves the metrics on `WEB_METRICS_PORT`, and nothing else. With several processes they share the port.
 *
 * @throws ListenError when the port is in use
 */
export async function serveMetrics(
  { host, isDefaultHost, metricsPath = "/metrics", metricsPort = 0 }: Config,
  site: MetricsSite,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const [path] = (request.url ?? "").split("?");
    const isReading = request.method === "GET" || request.method === "HEAD";
    if (path !== metricsPath) response.writeHead(404).end();
    else if (isReading) void write(request, response, site);
    else response.writeHead(405, { allow: "GET, HEAD", connection: "close" }).end();
  });
  const { address } = await listenOn(server, { host, isDefaultHost, port: metricsPort, variable: "WEB_METRICS_PORT" });
  return {
    address: address + metricsPath,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Writes the metrics. Never rejects: what could not be read, for example without free descriptors, is a 500. */
async function write(request: IncomingMessage, response: ServerResponse, { metrics, log }: MetricsSite): Promise<void> {
  const { status, headers, text } = await metrics(request.headers.authorization ?? null).catch((error: unknown) => {
    log.error({ err: error }, "The metrics could not be read");
    return { status: 500, headers: {}, text: "The metrics could not be read.\n" };
  });
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", ...headers });
  response.end(request.method === "HEAD" ? undefined : text);
}

/** A server that accepts connections. */
export interface Listening {
  /** The URL of the server, for example `http://localhost:3000`. */
  readonly address: string;
}

/** The address on which a server listens. */
export interface ListenOptions {
  readonly host: string;
  /** Whether nobody has chosen the host. The default 127.0.0.1 is shown as `localhost`. */
  readonly isDefaultHost?: boolean;
  readonly port: number;
  /** The environment variable that sets the port, for errors; `PORT` by default. */
  readonly variable?: string;
}

/** Thrown when a server cannot listen. Its message is complete without a stack. */
class ListenError extends Error {
  override get name(): string {
    return "ListenError";
  }
}

/**
 * Starts a server, and resolves once it accepts connections.
 *
 * @param options `port` from 0 to 65,535; 0 selects a free port
 * @throws ListenError when the port is in use or not permitted, or the host is no address of this machine; otherwise the
 *   error of Node
 */
export async function listenOn(server: Server, options: ListenOptions): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explainListenError(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  return { address: addressOf(server, options) };
}

function explainListenError(error: NodeJS.ErrnoException, options: ListenOptions): Error {
  const problem = listenProblem(error.code, options);
  return problem === undefined ? error : new ListenError(problem, { cause: error });
}

/** Returns what is wrong with an address, and the fix; `undefined` for a code that is not about the address. */
function listenProblem(code: string | undefined, { host, port, variable = "PORT" }: ListenOptions): string | undefined {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} of ${host} is in use. Stop the process that listens on it, or set ${variable} to another port (0: any free one).`;
    case "EACCES":
      return `Port ${port} of ${host} may not be used by this user (EACCES). Set ${variable} to a port from 1024 to 65535.`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `HOST is ${host}, a name that has no address (${code}). ${HOST_ADVICE}`;
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
      return `HOST is ${host}, which is no address of this machine (${code}). ${HOST_ADVICE}`;
    default:
      return undefined;
  }
}

const HOST_ADVICE =
  "Set HOST to 127.0.0.1 for connections from this machine, or to 0.0.0.0 for connections from others too.";

/**
 * Returns a URL that a browser on this machine can open: with the host that was chosen, and with `localhost` if the server
 * listens on all addresses. A passkey works on `localhost`, and not on an IP address.
 */
function addressOf(server: Server, { host, isDefaultHost = false }: ListenOptions): string {
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe
  if (host === "0.0.0.0" || host === "::" || isDefaultHost) return `http://localhost:${port}`;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

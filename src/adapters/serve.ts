import cluster from "node:cluster";
import type { App } from "../app.ts";
import { type Logger, logEvent } from "../logging/index.ts";
import { relayMetrics } from "../metrics/index.ts";
import { requireInternals } from "../server/index.ts";
import { Connections } from "./connections.ts";
import { announceKeepAlive, closesIdleConnections, createServer, watchIdleConnections } from "./fast/index.ts";
import { guardFileDescriptors, readDescriptorUse, warnIfLimitIsLow } from "./file-descriptors.ts";
import { listenOn } from "./listen.ts";
import { type MetricsServer, serveMetrics } from "./metrics-server.ts";
import { node } from "./node.ts";
import { limitArrival } from "./own-time-limit.ts";
import { answerRejectedRequests, requireHost } from "./rejected-requests.ts";
import { SERVER_LIMITS, serverOptions } from "./server-options.ts";
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

import type { ServerResponse } from "node:http";
import { Server } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { App } from "../app.ts";
import { type AppInternals, requireInternals } from "../server/index.ts";
import { Connections } from "./connections.ts";
import { NodeInboundRequest } from "./node-inbound-request.ts";

/** How often connections are checked while the server is stopping. */
const SWEEP_MS = 50;

/** What {@link stoppable} has not completed. */
export interface Stopped {
  /** How many requests had not ended after `WEB_STOP_SECONDS`, and were cut off. */
  readonly cut: number;
}

/** How a server stops, in whole seconds. */
export interface StopTimes {
  readonly drainSeconds: number;
  readonly stopSeconds: number;
}

/**
 * Prepares a server of your own to stop without failed requests. Call it before the server listens.
 *
 * @param server a server of `node:http`, `node:https` or `node:http2` that passes requests to `node(app)`, perhaps through
 *   Express or another framework
 * @returns a function that stops the server and closes the application. For `WEB_DRAIN_SECONDS`, `/readyz` responds with 503,
 *   requests are still accepted, and live connections end one after another. Then the port closes, each connection ends
 *   after its next response, and requests in flight have `WEB_STOP_SECONDS`. Those that take longer are cut off and
 *   logged, also streams. Calling it again has no effect.
 * @throws TypeError if `app` is not an `App`
 *
 * @example
 * const stop = stoppable(server, app);
 * process.once("SIGTERM", async () => process.exit((await stop()).cut > 0 ? 1 : 0));
 */
export function stoppable(server: Server, app: App): () => Promise<Stopped> {
  const { stop } = prepareStop(server, app);
  return () => stop(app.config);
}

/** A server that can stop. */
export interface StoppableServer {
  /** As the function that {@link stoppable} returns, with the times as an argument. */
  readonly stop: (times: StopTimes) => Promise<Stopped>;
  /** Logs that a second signal cuts off the requests in flight, with their number. */
  readonly logInterruption: (signal: string) => void;
}

/** Prepares a server as {@link stoppable}. */
export function prepareStop(server: Server, app: App, connections = new Connections(server)): StoppableServer {
  const internals = requireInternals(app, "stoppable()");
  let stopped: Promise<Stopped> | undefined;
  return {
    stop(times) {
      stopped ??= stopServer({ server, app, internals, connections }, times);
      return stopped;
    },
    logInterruption(signal) {
      const count = connections.inFlight.length;
      if (count === 0) internals.log.info({ signal }, "Stopping at once, because of a second signal");
      else internals.log.error({ signal, count }, "Requests were cut off by a second signal");
    },
  };
}

interface RunningServer {
  readonly server: Server;
  readonly app: App;
  readonly internals: AppInternals;
  readonly connections: Connections;
}

async function stopServer(running: RunningServer, { drainSeconds, stopSeconds }: StopTimes): Promise<Stopped> {
  const { server, app, internals, connections } = running;
  app.drain(drainSeconds);
  connections.observe();
  const drainMs = drainSeconds * 1000;
  const sweep = setInterval(() => connections.observe(), SWEEP_MS);
  if (drainMs > 0) await pause(drainMs);
  clearInterval(sweep);
  const { ended } = await closePort(server);
  connections.closeAfterResponses();
  const cut = await endConnections(running, ended, { drainMs, stopMs: stopSeconds * 1000 });
  if (cut.length > 0) logCutRequests(cut, { internals, stopSeconds });
  await app.close();
  return { cut: cut.length };
}

/** Waits until all connections have ended. After the time limit, closes them. @returns the requests that were cut off */
async function endConnections(
  { connections }: RunningServer,
  ended: Promise<void>,
  { drainMs, stopMs }: { readonly drainMs: number; readonly stopMs: number },
): Promise<Connections["inFlight"]> {
  // A proxy may send a request at the moment at which its connection is closed. So connections are closed only when they
  // have been silent for the whole drain: proxies have closed them before, or use them no more.
  connections.closeSilent(drainMs);
  const sweep = setInterval(() => connections.closeSilent(drainMs), SWEEP_MS);
  let cut: Connections["inFlight"] = [];
  const deadline = setTimeout(() => {
    cut = connections.inFlight;
    connections.destroy();
  }, stopMs);
  await ended;
  clearInterval(sweep);
  clearTimeout(deadline);
  return cut;
}

/** The application whose requests were cut off, and the time that they had. */
interface CutOptions {
  readonly internals: AppInternals;
  readonly stopSeconds: number;
}

/** Logs the requests that were cut off: a line for each route, with their number. */
function logCutRequests(cut: readonly ServerResponse[], { internals, stopSeconds }: CutOptions): void {
  const counts = new Map<string, number>();
  for (const response of cut) {
    const { kind, name } = internals.targetOf(new NodeInboundRequest(response.req, response));
    const route = `${kind} ${name ?? ""}`.trim();
    counts.set(route, (counts.get(route) ?? 0) + 1);
  }
  for (const [route, count] of counts) {
    internals.log.error(
      { route, count },
      `Requests were cut off: they had not ended ${stopSeconds} s after the port was closed. If they need longer, raise ` +
        "WEB_STOP_SECONDS",
    );
  }
}

/** A turn of the event loop that takes longer may have left connections waiting. */
const SHORT_TURN_MS = 0.05;

/** How long to look for a turn of the event loop without a new connection. */
const MAX_WAIT_MS = 1_000;

/**
 * Stops accepting connections. The open ones, idle ones too, stay open, unlike with `server.close()`.
 *
 * The system completes connections before the process accepts them, and resets those that wait when the port closes: their
 * clients may have sent a request already. Node accepts one connection in each turn of the event loop. So the port is closed
 * directly after a turn that was short and in which no connection arrived, if there is one within a second.
 *
 * @returns a promise that resolves when the last connection has ended
 */
export async function closePort(server: Server): Promise<{ readonly ended: Promise<void> }> {
  let arrived = 0;
  const count = () => void arrived++;
  server.on("connection", count);
  close(new Server()); // compiles the function, so that its call below is short
  const giveUpAtMs = performance.now() + MAX_WAIT_MS;
  // In an object, because a promise would be awaited.
  const closed = await new Promise<{ readonly ended: Promise<void> }>((resolve) => {
    const attempt = () => {
      const arrivedBefore = arrived;
      const startedAtMs = performance.now();
      setImmediate(() => {
        const now = performance.now();
        const isQuiet = arrived === arrivedBefore && now - startedAtMs < SHORT_TURN_MS;
        if (isQuiet || now > giveUpAtMs) resolve({ ended: close(server) });
        else attempt();
      });
    };
    attempt();
  });
  server.off("connection", count);
  return closed;
}

function close(server: Server): Promise<void> {
  // `close` of an HTTP server would also close connections that have just become idle, on which a proxy may be sending
  // its next request.
  return new Promise((resolve) => {
    // The HTTP server of Bun is no server of its `node:net`, whose method throws.
    if ("bun" in process.versions) server.close(() => resolve());
    else Server.prototype.close.call(server, () => resolve());
  });
}

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Config } from "../config/index.ts";
import type { Logger } from "../logging/index.ts";
import type { AppInternals } from "../server/index.ts";
import { createServer } from "./fast/index.ts";
import { listenOn } from "./listen.ts";

/** The metrics of an application, and its log. */
export interface MetricsSite {
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

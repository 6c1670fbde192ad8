import type { Registry } from "prom-client";
import { ConfigError } from "../config/index.ts";
import type { RefusalReason } from "../logging/index.ts";
import type { RequestListener } from "../server/index.ts";

/** What is read when the metrics are requested. */
export interface MetricsSource {
  /** The number of streams of server functions whose response has not ended. */
  readonly openStreams: () => number;
  /** The number of open event streams and polls. */
  readonly liveConnections: () => number;
  readonly live: () => LiveCounts;
  /** Whether the bus is reachable; a bus that does not report it counts as reachable. */
  readonly isBusReachable: () => boolean;
  readonly droppedLogLines: () => number;
  /** The longest delay of the event loop in the last 60 seconds, in milliseconds. The first call starts the measurement. */
  readonly eventLoopDelayMs: () => number;
}

/** What live updates have done since the start of the process. */
export interface LiveCounts {
  readonly published: number;
  readonly publishFailures: number;
  readonly delivered: number;
  /** By reason. */
  readonly gaps: Readonly<Record<string, number>>;
}

/** The upper bounds of the durations, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of a process, and what changes them. */
export interface ProcessMetrics {
  readonly registry: Registry;
  readonly ended: RequestListener["ended"];
  readonly refused: (reason: RefusalReason) => void;
}

/**
 * Creates the metrics of a process. All labels come from what the application declares or from fixed lists, so that their
 * number is bounded: a client that requests random paths adds none.
 */
export function createMetrics(prom: PromClient, source: MetricsSource): ProcessMetrics {
  const registry = new prom.Registry();
  const registers = [registry];
  const requests = new prom.Counter({
    name: "tsweb_requests_total",
    help: "Requests by kind, by function or path pattern, and by status.",
    labelNames: ["kind", "name", "status"],
    registers,
  });
  const durations = new prom.Histogram({
    name: "tsweb_request_duration_seconds",
    help: "Time until the response was handed to the connection, for streams until their end.",
    labelNames: ["kind", "name"],
    buckets: BUCKETS,
    registers,
  });
  const refusals = new prom.Counter({
    name: "tsweb_refusals_total",
    help: "Requests that tsweb has refused, and sessions (unknown_secret), by reason.",
    labelNames: ["reason"],
    registers,
  });
  addReadings(prom, registry, source);
  source.eventLoopDelayMs(); // measures from now on: also what is before the first request for the metrics
  return {
    registry,
    ended: ({ target: { kind, name }, status, durationMs }) => {
      requests.inc({ kind, name: name ?? "", status: String(status) });
      durations.observe({ kind, name: name ?? "" }, durationMs / 1000);
    },
    refused: (reason) => refusals.inc({ reason }),
  };
}

/** Adds what is read when the metrics are requested. */
function addReadings(prom: PromClient, registry: Registry, source: MetricsSource): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number, aggregator: "sum" | "max" | "min" = "sum") => {
    new prom.Gauge({
      ...{ name, help, registers, aggregator },
      collect() {
        this.set(read());
      },
    });
  };
  const counter = (name: string, help: string, read: () => number) => {
    new prom.Counter({
      ...{ name, help, registers },
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  };
  gauge("tsweb_open_streams", "Streams of server functions.", source.openStreams);
  gauge("tsweb_live_connections", "Open event streams, and polls that wait.", source.liveConnections);
  counter("tsweb_messages_published_total", "Messages that were published.", () => source.live().published);
  counter(
    "tsweb_publish_failures_total",
    "Messages that the bus has refused, or not confirmed in time.",
    () => source.live().publishFailures,
  );
  counter(
    "tsweb_messages_delivered_total",
    "Messages that were sent to live connections.",
    () => source.live().delivered,
  );
  new prom.Counter({
    name: "tsweb_gaps_total",
    help: "Feeds that could not be delivered completely, by reason.",
    labelNames: ["reason"],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(source.live().gaps)) this.inc({ reason }, count);
    },
  });
  gauge(
    "tsweb_bus_connected",
    "1 if the bus is reachable in all processes, 0 if not.",
    () => Number(source.isBusReachable()),
    "min",
  );
  counter("tsweb_log_lines_dropped_total", "Log lines that could not be written.", source.droppedLogLines);
  gauge(
    "tsweb_event_loop_delay_seconds",
    "The longest delay of the event loop in the last 60 seconds, in the slowest process.",
    () => source.eventLoopDelayMs() / 1000,
    "max",
  );
  gauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
  gauge("nodejs_heap_used_bytes", "Used memory of the JavaScript heap.", () => process.memoryUsage().heapUsed);
  counter("process_cpu_seconds_total", "Processor time.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
}

/** The functions of prom-client. */
export type PromClient = typeof import("prom-client");

/**
 * Loads prom-client, an optional peer dependency: only applications with metrics install it.
 *
 * @param variable the environment variable that requires it
 * @throws ConfigError with the install command if it cannot be loaded
 */
export async function loadPromClient(variable: string): Promise<PromClient> {
  try {
    const module: PromClient & { readonly default?: PromClient } = await import("prom-client");
    return module.default ?? module; // it is a CommonJS module
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ConfigError([
      {
        variable,
        problem: `is set, but the package prom-client could not be loaded (${reason}).`,
        fix: "Install it in the application, then build the application again: npm install prom-client",
      },
    ]);
  }
}

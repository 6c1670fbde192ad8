import cluster from "node:cluster";
import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Registry } from "prom-client";
import { type Config, ConfigError } from "../config/index.ts";
import { CONNECTION_CLOSE, type HandlerResponse, type InboundRequest, textResponse } from "../http/index.ts";
import type { LiveCounts } from "../live/index.ts";
import type { RefusalReason } from "../logging/index.ts";
import { METRICS_MESSAGE, type MetricsMessage } from "./metrics-relay.ts";
import type { RequestListener } from "./observe-request.ts";

type MetricsConfig = Pick<Config, "metricsPort" | "metricsToken" | "workers">;

/** The metrics of an application with `WEB_METRICS_TOKEN` or `WEB_METRICS_PORT`. */
export class Metrics {
  readonly #config: MetricsConfig;
  readonly #source: Omit<MetricsSource, "openStreams">;
  #loading: Promise<void> | undefined;
  #prom: PromClient | undefined;
  #process: ProcessMetrics | undefined;
  /** Counted from the first request on: a stream may start before {@link start} and end after it. */
  #openStreams = 0;

  constructor(config: MetricsConfig, source: Omit<MetricsSource, "openStreams">) {
    this.#config = config;
    this.#source = source;
  }

  /** Observes requests. Those that end before {@link start} are not counted. */
  readonly listener: RequestListener = {
    started: ({ target }) => {
      if (target.kind === "stream") this.#openStreams++;
    },
    ended: (request) => {
      if (request.target.kind === "stream") this.#openStreams--;
      this.#process?.ended(request);
    },
  };

  readonly refused = (reason: RefusalReason): void => this.#process?.refused(reason);

  /** @throws ConfigError if prom-client is not installed */
  start(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /**
   * Returns the response to a request for the metrics of all processes.
   *
   * @param authorization the header of the request
   */
  async respond(authorization: string | null): Promise<MetricsResponse> {
    const { metricsToken, workers } = this.#config;
    if (metricsToken !== undefined && !isBearer(authorization, metricsToken)) {
      return { status: 401, headers: { "www-authenticate": "Bearer" }, text: "The metrics require a token.\n" };
    }
    await this.start();
    const [prom, own] = [this.#prom, this.#process];
    if (!prom || !own) throw new Error("The metrics were not created.");
    const metrics = await own.registry.getMetricsAsJSON();
    // Only the supervisor of tsweb passes metrics on: processes of another cluster report their own.
    const registries = workers > 1 ? await collectFromWorkers(metrics) : [metrics];
    if (registries === null)
      return { status: 503, headers: {}, text: "A process did not report its metrics in time.\n" };
    const summed =
      registries.length === 1 ? own.registry : prom.AggregatorRegistry.aggregate([...registries] as object[]);
    return { status: 200, headers: { "content-type": summed.contentType }, text: await summed.metrics() };
  }

  async #load(): Promise<void> {
    const prom = await loadPromClient(
      this.#config.metricsPort === undefined ? "WEB_METRICS_TOKEN" : "WEB_METRICS_PORT",
    );
    const own = createMetrics(prom, { ...this.#source, openStreams: () => this.#openStreams });
    this.#prom = prom;
    this.#process = own;
    reportToWorkers(() => own.registry.getMetricsAsJSON());
  }
}

/** A response with metrics, or why there are none. */
export interface MetricsResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The metrics of an application. */
export interface MetricsEndpoint {
  /** The path, below the base of the application. */
  readonly path: string;
  /** @param authorization the header of the request; `null` without one */
  respond(authorization: string | null): Promise<MetricsResponse>;
}

/**
 * Handles a request for the metrics.
 *
 * @see docs/protocol.md 12.2
 */
export async function handleMetrics(inbound: InboundRequest, metrics: MetricsEndpoint): Promise<HandlerResponse> {
  if (inbound.method !== "GET" && inbound.method !== "HEAD") {
    return textResponse(405, "This URL allows GET, HEAD.\n", { allow: "GET, HEAD", ...CONNECTION_CLOSE });
  }
  const { status, headers, text } = await metrics.respond(inbound.header("authorization"));
  return textResponse(status, text, inbound.hasUndeclaredBody ? { ...headers, ...CONNECTION_CLOSE } : headers);
}

function isBearer(authorization: string | null, token: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(authorization ?? ""), hash(`Bearer ${token}`));
}

/** How long a process waits for the metrics of the others. */
const TIMEOUT_MS = 4_000;

/** Makes this process report its metrics whenever another process of the same supervisor requests them. */
function reportToWorkers(read: () => Promise<unknown>): void {
  if (cluster.isPrimary) return;
  process.on("message", (message: MetricsMessage) => {
    if (message?.type !== METRICS_MESSAGE || message.step !== "read") return;
    void read().then((metrics) => send({ ...message, step: "metrics", metrics }));
  });
}

/**
 * Returns the metrics of all processes of this supervisor; `null` if one does not report them in time. Without a
 * supervisor, those of this process.
 */
export async function collectFromWorkers(own: unknown): Promise<readonly unknown[] | null> {
  if (cluster.isPrimary) return [own];
  const id = randomUUID();
  let onMessage: (message: MetricsMessage) => void = () => undefined;
  const collected = new Promise<readonly unknown[]>((resolve) => {
    onMessage = (message) => {
      if (message?.type === METRICS_MESSAGE && message.step === "all" && message.id === id) resolve(message.all);
    };
  });
  process.on("message", onMessage);
  try {
    if (!(await send({ type: METRICS_MESSAGE, step: "collect", id }))) return null;
    return await Promise.race([collected, pause(TIMEOUT_MS, null, { ref: false })]);
  } finally {
    process.off("message", onMessage);
  }
}

/**
 * Sends a message to the supervisor. Resolves with whether it was sent: the supervisor may have ended, while this process
 * completes its requests. Without the callback, Node would end the process with an uncaught exception then.
 */
function send(message: MetricsMessage): Promise<boolean> {
  return new Promise((resolve) => {
    process.send?.(message, undefined, undefined, (error) => resolve(error === null));
  });
}

/** What is read when the metrics are requested. */
interface MetricsSource {
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

/** The upper bounds of the durations, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of a process, and what changes them. */
interface ProcessMetrics {
  readonly registry: Registry;
  readonly ended: RequestListener["ended"];
  readonly refused: (reason: RefusalReason) => void;
}

/**
 * Creates the metrics of a process. All labels come from what the application declares or from fixed lists, so that their
 * number is bounded: a client that requests random paths adds none.
 */
function createMetrics(prom: PromClient, source: MetricsSource): ProcessMetrics {
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
  const failedParts = new prom.Counter({
    name: "tsweb_failed_parts_total",
    help: "Parts of pages that have failed after the status of the page was sent, by path pattern.",
    labelNames: ["name"],
    registers,
  });
  const prefetches = new prom.Counter({
    name: "tsweb_prefetches_total",
    help: "Those of the requests that browsers have sent before a click, by status.",
    labelNames: ["status"],
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
    ended: ({ isPrefetch, target: { kind, name }, status, durationMs, failedParts: failed }) => {
      if (isPrefetch) prefetches.inc({ status: String(status) });
      requests.inc({ kind, name: name ?? "", status: String(status) });
      durations.observe({ kind, name: name ?? "" }, durationMs / 1000);
      if (failed > 0) failedParts.inc({ name: name ?? "" }, failed);
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
type PromClient = typeof import("prom-client");

/**
 * Loads prom-client, an optional peer dependency: only applications with metrics install it.
 *
 * @param variable the environment variable that requires it
 * @throws ConfigError with the install command if it cannot be loaded
 */
async function loadPromClient(variable: string): Promise<PromClient> {
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

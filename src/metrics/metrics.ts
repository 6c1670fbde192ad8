import cluster from "node:cluster";
import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Config } from "../config/index.ts";
import type { RefusalReason } from "../logging/index.ts";
import type { MetricsResponse, RequestListener } from "../server/index.ts";
import { createMetrics, loadPromClient, type MetricsSource, type ProcessMetrics, type PromClient } from "./registry.ts";
import { METRICS_MESSAGE, type MetricsMessage } from "./relay.ts";

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

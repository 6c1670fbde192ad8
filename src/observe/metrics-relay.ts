/**
 * Passes the metrics of workers on to the worker that received the request. `tsweb build` copies this file beside the built
 * application, so it imports nothing but Node's own modules.
 */
import cluster, { type Worker } from "node:cluster";

/** The type of the messages with which processes exchange their metrics. */
export const METRICS_MESSAGE = "tsweb:metrics";

/** A message about metrics. A worker sends `collect`, each worker gets `read` and sends `metrics`, the first one gets `all`. */
export type MetricsMessage =
  | { readonly type: typeof METRICS_MESSAGE; readonly step: "collect" | "read"; readonly id: string }
  | { readonly type: typeof METRICS_MESSAGE; readonly step: "metrics"; readonly id: string; readonly metrics: unknown }
  | {
      readonly type: typeof METRICS_MESSAGE;
      readonly step: "all";
      readonly id: string;
      readonly all: readonly unknown[];
    };

/** How long metrics are collected: longer than a process waits for them. */
const FORGET_MS = 10_000;

/** The metrics that one worker has requested. */
interface Collection {
  readonly requester: Worker;
  /** The workers that have not reported yet. */
  readonly pending: Set<Worker>;
  readonly all: unknown[];
}

/** Makes the supervisor pass metrics on. A worker that ends or disconnects while metrics are collected is left out. */
export function relayMetrics(): void {
  const collections = new Map<string, Collection>();
  const listening = new WeakSet<Worker>();
  cluster.on("listening", (worker: Worker) => listening.add(worker));
  const send = (worker: Worker, message: MetricsMessage) => {
    if (worker.isConnected()) worker.send(message, () => undefined); // it may end at this moment
  };
  const received = (worker: Worker, id: string) => {
    const collection = collections.get(id);
    if (!collection) return;
    collection.pending.delete(worker);
    if (collection.pending.size > 0) return;
    collections.delete(id);
    send(collection.requester, { type: METRICS_MESSAGE, step: "all", id, all: collection.all });
  };
  cluster.on("message", (worker: Worker, message: MetricsMessage) => {
    if (message?.type !== METRICS_MESSAGE) return;
    const { id } = message;
    if (message.step === "collect") {
      const workers = Object.values(cluster.workers ?? {}).filter(
        (other) => other?.isConnected() && listening.has(other),
      );
      setTimeout(() => collections.delete(id), FORGET_MS).unref(); // a process that hangs reports nothing
      collections.set(id, { requester: worker, pending: new Set(workers as Worker[]), all: [] });
      for (const other of workers as Worker[]) send(other, { type: METRICS_MESSAGE, step: "read", id });
    } else if (message.step === "metrics") {
      collections.get(id)?.all.push(message.metrics);
      received(worker, id);
    }
  });
  const leaveOut = (worker: Worker) => {
    for (const [id, { requester }] of collections) {
      if (requester === worker) collections.delete(id);
      else received(worker, id);
    }
  };
  cluster.on("disconnect", leaveOut);
  cluster.on("exit", leaveOut);
}

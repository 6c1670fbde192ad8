import cluster from "node:cluster";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { METRICS_MESSAGE, type MetricsMessage } from "./relay.ts";

/** How long a process waits for the metrics of the others. */
const TIMEOUT_MS = 4_000;

/** Makes this process report its metrics whenever another process of the same supervisor requests them. */
export function reportToWorkers(read: () => Promise<unknown>): void {
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

import type { Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { beforeEach, expect, it, vi } from "vitest";
import { METRICS_MESSAGE, type MetricsMessage, relayMetrics } from "./metrics-relay.ts";

const cluster = vi.hoisted(() => ({ on: (_name: string, _listener: unknown) => {}, workers: {} }));
vi.mock("node:cluster", () => ({ default: cluster }));

let events: EventEmitter;
beforeEach(() => {
  events = new EventEmitter();
  Object.assign(cluster, { on: events.on.bind(events), workers: {} });
  relayMetrics();
});

/** Adds a worker that listens and records what it receives. */
function addWorker(id: number) {
  const received: MetricsMessage[] = [];
  const worker = { isConnected: () => true, send: (message: MetricsMessage) => received.push(message) };
  Object.assign(cluster.workers, { [id]: worker });
  events.emit("listening", worker);
  const report = (metrics: string) =>
    events.emit("message", worker, { type: METRICS_MESSAGE, step: "metrics", id: "1", metrics });
  return { worker: worker as unknown as Worker, received, report };
}

const collect = (worker: Worker) => events.emit("message", worker, { type: METRICS_MESSAGE, step: "collect", id: "1" });
const all = (...metrics: string[]) => ({ type: METRICS_MESSAGE, step: "all", id: "1", all: metrics });

it("returns the metrics of all processes to the one that requested them", () => {
  const [a, b] = [addWorker(1), addWorker(2)];
  collect(a.worker);
  a.report("a");
  expect(a.received).toHaveLength(1);
  b.report("b");
  expect(a.received.at(-1)).toEqual(all("a", "b"));
  expect(b.received.map(({ step }) => step)).toEqual(["read"]);
});

it("does not wait for a process that has disconnected and completes its requests", () => {
  const [a, b] = [addWorker(1), addWorker(2)];
  b.worker.isConnected = () => false;
  collect(a.worker);
  a.report("a");
  expect(a.received.at(-1)).toEqual(all("a"));
});

it.each(["disconnect", "exit"])("does not wait for a process after its event %s", (event) => {
  const [a, b] = [addWorker(1), addWorker(2)];
  collect(a.worker);
  a.report("a");
  events.emit(event, b.worker);
  expect(a.received.at(-1)).toEqual(all("a"));
});

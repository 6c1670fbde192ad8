import { afterEach, expect, it, vi } from "vitest";
import { collectFromWorkers } from "./metrics.ts";
import type { MetricsMessage } from "./metrics-relay.ts";

vi.mock("node:cluster", () => ({ default: { isPrimary: false } }));
// The time limit never ends: what is returned, is returned without it.
vi.mock("node:timers/promises", () => ({ setTimeout: () => new Promise(() => undefined) }));

type Sent = (error: Error | null) => void;
const originalSend = process.send;
afterEach(() => {
  if (originalSend) process.send = originalSend;
  else delete process.send;
});

/** Replaces the channel to the supervisor. */
function replaceSend(send: (message: MetricsMessage, sent: Sent) => void) {
  process.send = (message: MetricsMessage, ...[, , sent]: [unknown?, unknown?, Sent?]) => {
    // As Node does: without a callback, the error ends the process.
    send(message, sent ?? ((error) => void (error && process.emit("uncaughtException", error))));
    return true;
  };
}

it("returns what the supervisor has collected, and ignores the answers to other requests", async () => {
  replaceSend((message, sent) => {
    sent(null);
    for (const [id, all] of [
      ["another", ["x"]],
      [message.id, ["a", "b"]],
    ]) {
      process.emit("message", { ...message, step: "all", id, all }, undefined);
    }
  });
  const listeners = process.listenerCount("message");
  expect(await collectFromWorkers("a")).toEqual(["a", "b"]);
  expect(process.listenerCount("message")).toBe(listeners);
});

it("returns null at once, and does not end the process, if the supervisor has ended", async () => {
  replaceSend((_message, sent) => sent(new Error("Channel closed")));
  expect(await collectFromWorkers("a")).toBe(null);
});

// Measures the delivery of messages at one rate: deliveries per second, latency, processor time, and memory.
import { setTimeout as sleep } from "node:timers/promises";
import { cpuMs, residentKiB } from "../lib/processes.mjs";
import { openListeners } from "./listeners.mjs";
import { startSender } from "./sender.mjs";

/** The time until all is compiled and the server is idle. */
const SETTLE_MS = 1_000;

/**
 * Opens event streams of a new server, and passes them on. The streams check that all messages arrive, in order.
 *
 * @param use called with `{ server, listeners, kib }`: the memory of an idle stream
 */
export async function withListeners(contestant, { connections, channels = 1, tracksIds, nodeArgs }, use) {
  const server = await contestant.start({ nodeArgs });
  let listeners;
  try {
    const urls = await contestant.urlsOf(server.address, channels);
    const before = residentKiB(server.pid);
    listeners = await openListeners(urls, { connections, tracksIds });
    await sleep(SETTLE_MS);
    return await use({ server, listeners, kib: (residentKiB(server.pid) - before) / connections });
  } finally {
    await listeners?.end();
    await server.end();
  }
}

/**
 * Measures a server while messages are published at a rate, as far as it answers in time. At the end, every stream must
 * have received every message.
 *
 * @returns deliveries per second, µs of processor time for each, KiB per idle stream, and the latencies in ms
 */
export function measureDelivery(contestant, { rate, seconds, ...options }) {
  return withListeners(contestant, options, async ({ server, listeners, kib }) => {
    const sender = await startSender(server.address, { rate, channels: options.channels });
    await sleep(SETTLE_MS);
    await listeners.report();
    const cpu = cpuMs(server.pid);
    await sleep(seconds * 1_000);
    const { messages, micros, latencies } = await listeners.report();
    const used = cpuMs(server.pid) - cpu;
    await listeners.complete(await sender.stop());
    const quantile = (part) => latencies[Math.floor(latencies.length * part)] / 1_000;
    return {
      rate: messages / (micros / 1e6),
      cpu: (used * 1_000) / messages,
      kib,
      p50: quantile(0.5),
      p99: quantile(0.99),
    };
  });
}

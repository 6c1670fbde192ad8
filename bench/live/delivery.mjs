// Measures the delivery of messages at one rate: deliveries per second, latency, processor time, and memory.
import { setTimeout as sleep } from "node:timers/promises";
import { cpuMs, residentKiB } from "../lib/processes.mjs";
import { openListeners } from "./listeners.mjs";
import { startSender } from "./sender.mjs";

/** The time until all is compiled and the server is idle. */
const SETTLE_MS = 1_000;

/**
 * How many messages of a channel a stream may still have to receive. tsweb and nchan keep the last 1,000 of a channel: if there
 * were more, a stream that the process of the load reads too slowly would get a gap.
 */
const WINDOW = 800;
const PROGRESS_MS = 10;

/** Notes all the time how many messages of its channel every stream has received. */
function followProgress(listeners) {
  const progress = { received: 0, end };
  let isEnded = false;
  const following = follow();
  following.catch(() => undefined); // `end` throws the error
  async function follow() {
    while (!isEnded) {
      progress.received = await listeners.progress();
      await sleep(PROGRESS_MS);
    }
  }
  function end() {
    isEnded = true;
    return following;
  }
  return progress;
}

/**
 * Opens event streams of a new server, and passes them on. The streams check that all messages arrive, in order.
 *
 * @param use called with `{ server, listeners, kib, send }`: `kib` is the memory of an idle stream, `send` starts to publish
 */
export async function withListeners(contestant, { connections, channels = 1, tracksIds, nodeArgs }, use) {
  const server = await contestant.start({ nodeArgs });
  let listeners;
  try {
    const urls = await contestant.urlsOf(server.address, channels);
    const before = residentKiB(server.pid);
    listeners = await openListeners(urls, { connections, tracksIds });
    await sleep(SETTLE_MS);
    const kib = (residentKiB(server.pid) - before) / connections;
    const { requestOf, senderConnections } = contestant;
    const defaults = { requestOf, channels, connections: senderConnections };
    const send = (options) => startSender(server.address, { ...defaults, ...options });
    return await use({ server, listeners, kib, send });
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
  return withListeners(contestant, options, async ({ server, listeners, kib, send }) => {
    const { messages, micros, latencies, used } = await measureWhileSending({ server, listeners, send, rate, seconds });
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

async function measureWhileSending({ server, listeners, send, rate, seconds }) {
  const progress = followProgress(listeners);
  try {
    const sender = await send({ rate, limitOfChannel: () => progress.received + WINDOW });
    await sleep(SETTLE_MS);
    await listeners.report();
    const cpu = cpuMs(server.pid);
    await sleep(seconds * 1_000);
    const report = await listeners.report();
    const used = cpuMs(server.pid) - cpu;
    const sent = await sender.stop();
    await progress.end();
    await listeners.complete(sent);
    return { ...report, used };
  } finally {
    await progress.end();
  }
}

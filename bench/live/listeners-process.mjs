// Opens event streams, and answers the commands of its parent, a line of JSON each, with a line of JSON.
// Its first line is `{ urls, connections, firstClient, tracksIds }`.
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Listener } from "./listener.mjs";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { urls, connections, firstClient, tracksIds } = JSON.parse((await lines.next()).value);

/** How many connections are opened at a time. */
const BATCH = 100;
const WAIT_MS = 60_000;

let latencies = [];
let messages = 0;
let since = process.hrtime.bigint();

/** One latency of this many is kept, so that keeping them takes no time. */
const SAMPLE = 7;
const onMessage = (micros) => {
  if (messages++ % SAMPLE === 0) latencies.push(micros);
};

const listeners = Array.from({ length: connections }, (_, i) => {
  const client = firstClient + i;
  return new Listener({ url: urls[client % urls.length], client, tracksIds, onMessage, onClose: reconnect });
});

/** tsweb ends a stream after five minutes: browsers connect again. */
function reconnect(listener) {
  if (!tracksIds) throw new Error("The server has ended an event stream.");
  listener.open();
}

async function open() {
  for (let i = 0; i < connections; i += BATCH)
    await Promise.all(listeners.slice(i, i + BATCH).map((listener) => listener.open()));
  return {};
}

const commands = {
  open,
  /** Returns what was received since the last report. */
  report() {
    const now = process.hrtime.bigint();
    const report = { messages, micros: Number((now - since) / 1000n), latencies };
    [messages, latencies, since] = [0, [], now];
    return report;
  },
  /** Returns the number of messages that every listener has received. */
  progress: () => ({ received: listeners.reduce((least, { next }) => Math.min(least, next), Number.MAX_SAFE_INTEGER) }),
  /** Waits until every listener has all messages: `sent` of each URL. */
  async complete({ sent }) {
    const deadline = Date.now() + WAIT_MS;
    const isBehind = (listener) => listener.next < sent[listener.client % urls.length];
    let behind = listeners.filter(isBehind);
    while (behind.length > 0) {
      if (Date.now() > deadline) throw new Error(`${behind.length} streams wait for message ${behind[0].next}.`);
      await sleep(2);
      behind = behind.filter(isBehind);
    }
    return {};
  },
  /** Cuts all connections. */
  cut() {
    for (const listener of listeners) listener.cut();
    return {};
  },
  /** Cuts a part of the connections, and opens them again. */
  async churn({ count }) {
    const part = listeners.splice(0, count);
    listeners.push(...part);
    for (const listener of part) listener.cut();
    await Promise.all(part.map((listener) => listener.open()));
    return {};
  },
};

for await (const line of { [Symbol.asyncIterator]: () => lines }) {
  const { command, ...options } = JSON.parse(line);
  console.log(JSON.stringify(await commands[command](options)));
}
process.exit();

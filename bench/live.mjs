// Live updates: messages delivered to many event streams, compared with node:http writing one shared buffer.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildApp, settings } from "./lib/app.mjs";
import { median, spread, table } from "./lib/numbers.mjs";
import { cpuMs, layout, pinned, startServer } from "./lib/processes.mjs";

const siblingPath = (name) => fileURLToPath(new URL(name, import.meta.url));

const bare = {
  name: "bare `node:http`",
  open: () => startServer([siblingPath("peers/bare-live.mjs")]),
  stream: async (address) => `${address}/`,
};

export const tsweb = {
  name: "tsweb",
  open: () =>
    startServer(["dist/server.mjs"], {
      cwd: siblingPath("app"),
      env: { ...settings(), WEB_TRUST_PROXY: "1" },
    }),
  async stream(address) {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${address}/__web/rpc/issue_feed`, { method: "POST", headers, body: '{"args":{}}' });
    return `${address}/__web/live?feed=${(await response.json()).result}`;
  },
};

/** Opens event streams in a process of their own. */
async function openListeners(url, connections) {
  const [command, args] = pinned(1, process.execPath, [
    siblingPath("lib/listeners-process.mjs"),
    url,
    String(connections),
  ]);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  if (value !== "ready") throw new Error("The streams could not be opened.");
  return {
    async count() {
      child.stdin.write("count\n");
      return JSON.parse((await lines.next()).value);
    },
    async end() {
      const exited = once(child, "exit");
      child.stdin.end("end\n");
      await exited;
    },
  };
}

export function residentKiB(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

const MESSAGE = JSON.stringify({ n: 1_000_000, text: "~Somebody said something to the room." });

/** Sends messages at a constant rate, without waiting for responses. Returns a function that stops. */
function sendMessages(address, perSecond) {
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    for (; sent < ((performance.now() - startedAt) * perSecond) / 1000; sent++) {
      fetch(`${address}/ticks`, { method: "POST", body: MESSAGE }).catch(() => undefined); // fails when the server stops
    }
  }, 1);
  return () => clearInterval(timer);
}

/** Measures the delivery of messages at one rate. */
export async function measureDelivery({ open, stream }, { connections, rate, seconds }) {
  const server = await open();
  try {
    const url = await stream(server.address);
    const before = residentKiB(server.pid);
    const listeners = await openListeners(url, connections);
    await sleep(1_500);
    const idle = residentKiB(server.pid);
    const stopSending = sendMessages(server.address, rate);
    await sleep(1_500);
    await listeners.count();
    const cpu = cpuMs(server.pid);
    await sleep(seconds * 1000);
    const { messages, micros } = await listeners.count();
    const used = cpuMs(server.pid) - cpu;
    stopSending();
    await listeners.end();
    return { rate: messages / (micros / 1e6), cpu: (used * 1000) / messages, kib: (idle - before) / connections };
  } finally {
    await server.end();
  }
}

async function compare(options, rounds) {
  const rows = [bare, tsweb].map((contestant) => ({ contestant, runs: [] }));
  for (let round = 0; round < rounds; round++) {
    for (const { contestant, runs } of rows) runs.push(await measureDelivery(contestant, options));
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  const [first] = rows;
  return table(
    ["", "deliveries per second", "of bare", "by CPU time", "µs each", "KiB per connection", "of bare"],
    rows.map(({ contestant, runs }) => [
      contestant.name,
      Math.round(median(runs.map(({ rate }) => rate))).toLocaleString("en"),
      spread(runs.map(({ rate }, i) => rate / first.runs[i].rate)),
      spread(runs.map(({ cpu }, i) => first.runs[i].cpu / cpu)),
      median(runs.map(({ cpu }) => cpu)).toFixed(2),
      median(runs.map(({ kib }) => kib)).toFixed(1),
      spread(runs.map(({ kib }, i) => kib / first.runs[i].kib)),
    ]),
  );
}

export async function live({ rounds = 3, seconds = 3, connections = 5_000 } = {}) {
  buildApp();
  const steady = { connections: 1_000, rate: 40, seconds };
  const many = { connections, rate: 100, seconds };
  return [
    "## Live updates",
    `${rounds} rounds of ${seconds} s, ${layout}; a message is one line of 60 bytes to one channel.`,
    `One message at a time, ${steady.rate} a second to ${steady.connections.toLocaleString("en")} streams:`,
    await compare(steady, rounds),
    `More messages than the bare server can deliver, ${many.rate} a second to ${many.connections.toLocaleString("en")} streams:`,
    await compare(many, rounds),
  ].join("\n\n");
}

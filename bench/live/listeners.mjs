// Event streams in processes of their own, on the core of the load.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pinned } from "../lib/processes.mjs";

const file = fileURLToPath(new URL("listeners-process.mjs", import.meta.url));

/** The most connections of one process. Each takes a file descriptor. */
const PER_PROCESS = 10_000;

/**
 * Opens event streams, distributed over the URLs.
 *
 * @param options `connections`; `tracksIds`: whether they resume from the last event, which `cut` and `churn` need
 */
export async function openListeners(urls, { connections, tracksIds = false }) {
  const processes = [];
  for (let first = 0; first < connections; first += PER_PROCESS)
    processes.push(
      start({ urls, connections: Math.min(PER_PROCESS, connections - first), firstClient: first, tracksIds }),
    );
  const all = (command, options) => Promise.all(processes.map(({ send }) => send(command, options)));
  await all("open");
  return {
    /** Returns the number of messages since the last report, the time in µs, and a sample of the latencies in µs, sorted. */
    async report() {
      const reports = await all("report");
      return {
        messages: reports.reduce((sum, { messages }) => sum + messages, 0),
        micros: Math.max(...reports.map(({ micros }) => micros)),
        latencies: reports.flatMap(({ latencies }) => latencies).sort((a, b) => a - b),
      };
    },
    /** Returns the number of messages of its channel that every stream has received. */
    async progress() {
      return Math.min(...(await all("progress")).map(({ received }) => received));
    },
    complete: (sent) => all("complete", { sent }),
    cut: () => all("cut"),
    churn: (count) => all("churn", { count }),
    reopen: () => all("open"),
    end: () => Promise.all(processes.map(({ end }) => end())),
  };
}

function start(options) {
  const [command, args] = pinned(1, process.execPath, [file]);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.write(`${JSON.stringify(options)}\n`);
  return {
    async send(name, more) {
      child.stdin.write(`${JSON.stringify({ command: name, ...more })}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error("The process of the event streams has failed.");
      return JSON.parse(value);
    },
    async end() {
      if (child.exitCode !== null) return;
      const exited = once(child, "exit");
      child.stdin.end();
      await exited;
    },
  };
}

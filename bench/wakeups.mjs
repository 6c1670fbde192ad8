// What a page costs without a network, and what it costs more when each response wakes a process on the other core, as
// a response to the load generator does.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildApp, folder, settings } from "./lib/app.mjs";
import { median, spread, table } from "./lib/numbers.mjs";
import { layout, pinned } from "./lib/processes.mjs";

const measuring = fileURLToPath(new URL("lib/wakeups-process.mjs", import.meta.url));

/** @param options `nodes`: the versions of Node; `rounds`, `seconds`: of each server, with and without waking */
export async function wakeups({ nodes, rounds, seconds }) {
  buildApp();
  const sections = [];
  for (const node of nodes)
    sections.push(`### Node ${node.version}\n\n${await measureWith(node, { rounds, seconds })}`);
  return [
    "## Pages without a network, and waking another process",
    `One process, in µs for each page or loop: the median of ${rounds} rounds of ${seconds} s in alternating order, with minimum and ` +
      `maximum; ${layout}. “Waking”: after each page, 8.4 kB are written to a process that waits for them.`,
    ...sections,
  ].join("\n\n");
}

async function measureWith(node, { rounds, seconds }) {
  const args = ["--import", "tsweb/register", measuring, String(rounds), String(seconds * 1000)];
  const [command, commandArgs] = pinned(0, node.path, args);
  const env = { ...process.env, ...settings(), NODE_ENV: "production", BENCH_APP: folder };
  const { stdout } = await promisify(execFile)(command, commandArgs, { env });
  const results = JSON.parse(stdout.trim().split("\n").at(-1));
  const rows = Object.entries(results).map(([name, { alone, waking }]) => [
    name,
    spread(alone, 1),
    spread(waking, 1),
    (median(waking) - median(alone)).toFixed(1),
  ]);
  return table(["", "alone", "waking", "more"], rows);
}

// How the time of builds and of development grows with the application: n pages, n views and 2n server functions.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./lib/app.mjs";
import { writeGeneratedApp } from "./lib/generated-app.mjs";
import { table } from "./lib/numbers.mjs";
import { startServer } from "./lib/processes.mjs";

/** A module that prints the CPU time of its process at the end, in microseconds. */
const REPORT_CPU = "data:text/javascript,process.on('exit', () => console.error('CPU', process.cpuUsage().user))";

/** @param options `sizes`: the numbers of units, in increasing order */
export async function growth({ sizes }) {
  const rows = [];
  for (const units of sizes) {
    const [cpu, ...others] = await measure(units);
    rows.push([units, cpu, cpu / units, ...others].map((value) => value.toFixed(0)));
    process.stderr.write(`${units} units\n`);
  }
  const head = [
    "units",
    "`tsweb build`, CPU",
    "a unit",
    "`tsweb build`",
    "`tsweb dev` until it listens",
    "the first page",
  ];
  return `## Growth\n\nA generated application of n pages, n views and 2n server functions, in ms.\n\n${table(head, rows)}`;
}

async function measure(units) {
  const dir = mkdtempSync(join(tmpdir(), "tsweb-growth-"));
  try {
    writeGeneratedApp(dir, units);
    for (const [name, target] of [
      ["tsweb", root],
      ["preact", join(root, "node_modules", "preact")],
    ]) {
      const link = join(dir, "node_modules", name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(target, link, "dir");
    }
    return [...measureBuild(dir), ...(await measureDev(dir))];
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Returns the CPU time of user code and the elapsed time. Other processes affect the CPU time less. */
function measureBuild(dir) {
  const start = performance.now();
  const args = ["--import", REPORT_CPU, join(root, "bin", "tsweb.js"), "build", dir];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const cpu = /^CPU (\d+)$/m.exec(stderr)?.[1];
  if (status !== 0 || cpu === undefined) throw new Error(`tsweb build failed:\n${stderr}`);
  return [Number(cpu) / 1000, performance.now() - start];
}

async function measureDev(dir) {
  const start = performance.now();
  const env = { NODE_ENV: "development", WEB_ENV: "development", HOST: "127.0.0.1", PORT: "0" };
  const server = await startServer([join(root, "bin", "tsweb.js"), "dev", dir], { cwd: dir, env, core: null });
  try {
    const ready = performance.now() - start;
    const requested = performance.now();
    const response = await fetch(`${server.address}/unit0`);
    const text = await response.text();
    if (!text.includes("<h1>Unit 0</h1>")) throw new Error(`The first page was ${response.status}:\n${text}`);
    return [ready, performance.now() - requested];
  } finally {
    await server.end();
  }
}

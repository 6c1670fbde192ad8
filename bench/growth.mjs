// How builds and development grow with the application: n pages, n views and 2n server functions.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./lib/app.mjs";
import { launchChromium, measureEdits } from "./lib/edits.mjs";
import { viewFile, writeGeneratedApp } from "./lib/generated-app.mjs";
import { median, table } from "./lib/numbers.mjs";
import { cpuMs, residentKiB, startServer } from "./lib/processes.mjs";

/** A module that prints the CPU time of its process at the end, in microseconds. */
const REPORT_CPU = "data:text/javascript,process.on('exit', () => console.error('CPU', process.cpuUsage().user))";

/** The edited text of the view of a unit. */
const EDIT = { pattern: /(?<=>)(?:Entries|Edit \d+)(?=:)/, label: (round) => `Edit ${round}`, rounds: 10 };

/** @param options `sizes`: the numbers of units, in increasing order */
export async function growth({ sizes }) {
  const browser = await launchChromium();
  const rows = [];
  try {
    for (const units of sizes) {
      rows.push(row(units, await measure(units, browser)));
      process.stderr.write(`${units} units\n`);
    }
  } finally {
    await browser.close();
  }
  const head = [
    "units",
    "`tsweb build`, CPU",
    "a unit",
    "`tsweb build`",
    "`tsweb dev` until it listens",
    "the first page",
    "the first page, CPU",
    "a unit",
    "an edit",
    "`tsweb dev`, resident",
    "scripts of a page, gzip",
  ];
  return `## Growth\n\nA generated application of n pages, n views and 2n server functions: times in ms, memory in MiB.\n\n${table(head, rows)}`;
}

function row(units, { cpu, elapsed, script, ready, first, firstCpu, edit, memory }) {
  const numbers = [units, cpu, cpu / units, elapsed, ready, first, firstCpu, firstCpu / units, edit, memory / 1024];
  return [...numbers.map((value) => value.toFixed(0)), script];
}

async function measure(units, browser) {
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
    return { ...measureBuild(dir), ...(await measureDev(dir, browser)) };
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Returns the CPU time of user code, the elapsed time and the size of a page. Other processes affect the CPU time less. */
function measureBuild(dir) {
  const start = performance.now();
  const args = ["--import", REPORT_CPU, join(root, "bin", "tsweb.js"), "build", dir];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const cpu = /^CPU (\d+)$/m.exec(stderr)?.[1];
  if (status !== 0 || cpu === undefined) throw new Error(`tsweb build failed:\n${stderr}`);
  const script = /\/unit\d+ +([\d.]+ kB)/.exec(stdout)?.[1];
  if (script === undefined) throw new Error(`tsweb build has not printed the size of a page:\n${stdout}`);
  return { cpu: Number(cpu) / 1000, elapsed: performance.now() - start, script };
}

async function measureDev(dir, browser) {
  const start = performance.now();
  const env = { NODE_ENV: "development", WEB_ENV: "development", HOST: "127.0.0.1", PORT: "0" };
  const server = await startServer([join(root, "bin", "tsweb.js"), "dev", dir], { cwd: dir, env, core: null });
  try {
    const ready = performance.now() - start;
    const child = childOf(server.pid);
    const cpuBefore = cpuMs(child);
    const url = `${server.address}/unit0`;
    const requested = performance.now();
    const response = await fetch(url);
    const text = await response.text();
    if (!text.includes("<h1>Unit 0</h1>")) throw new Error(`The first page was ${response.status}:\n${text}`);
    const first = performance.now() - requested;
    const firstCpu = cpuMs(child) - cpuBefore;
    const { edits } = await measureEdits(browser, { ...EDIT, url, file: join(dir, viewFile(0)) });
    return { ready, first, firstCpu, edit: median(edits), memory: residentKiB(child) };
  } finally {
    await server.end();
  }
}

/** Returns the process that serves: `tsweb dev` starts it, and restarts it if it ends. */
function childOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0];
}

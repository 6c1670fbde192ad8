// Compares this tree with another revision: both build and serve bench/app, in alternation. Exits with status 1 if this tree
// is slower, or needs more memory.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fail, run } from "../scripts/setup.mjs";
import { FORMS } from "./calls/forms.mjs";
import { callOf } from "./calls/target.mjs";
import { buildApp, root, startApp } from "./lib/app.mjs";
import { browserHeaders, load } from "./lib/load.mjs";
import { median, spread, table } from "./lib/numbers.mjs";
import { cpuMs } from "./lib/processes.mjs";
import { callFunction, tsweb } from "./live/contestants.mjs";
import { measureDelivery, withListeners } from "./live/delivery.mjs";
import { openListeners } from "./live/listeners.mjs";

/**
 * The least ratio to the other revision, by processor time, and by the memory of an idle stream. Differences below it are within the
 * noise of the machine.
 */
const LEAST = { calls: 0.93, pages: 0.93, deliveries: 0.97, "memory of an idle stream": 0.97 };

/** 900 messages: a channel keeps 1,000, so that a slow reader gets no gap. */
const DELIVERIES = { connections: 1_000, rate: 300, seconds: 2 };

/** The streams whose memory is measured, and those that are opened before, so that all code has run. */
const IDLE = { warmUp: 300, connections: 2_000 };

/**
 * @param revision a revision of Git, for example `main`
 * @param options `rounds`; `seconds` under load in a round, and `connections`, of calls and pages
 */
export async function guard(revision, options) {
  const rows = await compareWith(revision, options);
  const cells = rows.map((row) => [
    row.name,
    ...[row.other, row.own].map((values) => `${spread(values, 1)} ${row.unit}`),
    ratio(row).toFixed(2),
    String(LEAST[row.name]),
  ]);
  const head = ["", revision, "this tree", "ratio", "least"];
  console.log(`\n## This tree, of ${revision}\n\n${table(head, cells)}`);
  const worse = rows.filter((row) => ratio(row) < LEAST[row.name]).map(({ name }) => name);
  if (worse.length > 0) fail(`\nWorse than ${revision}: ${worse.join(", ")}.`);
}

const ratio = ({ own, other }) => median(other) / median(own);

/** Returns what each kind takes in each round, in both revisions. */
async function compareWith(revision, { rounds, ...options }) {
  const other = checkOut(revision);
  try {
    buildApp();
    buildApp(other.app, other.dir);
    const both = { rounds, app: other.app };
    return [
      await eachRound(both, { name: "calls", unit: "µs" }, (where) => measureRequests(where, callTo, options)),
      await eachRound(both, { name: "pages", unit: "µs" }, (where) => measureRequests(where, pageOf, options)),
      await eachRound(both, { name: "deliveries", unit: "µs" }, measureDeliveries),
      await eachRound(both, { name: "memory of an idle stream", unit: "KiB" }, measureMemory),
    ];
  } finally {
    other.remove();
  }
}

/** Checks out a revision into a temporary folder, with this tree's `bench/app` and packages, and builds its package. */
function checkOut(revision) {
  const dir = mkdtempSync(join(tmpdir(), "tsweb-guard-"));
  const remove = () => {
    spawnSync("git", ["worktree", "remove", "--force", dir], { cwd: root });
    rmSync(dir, { recursive: true, force: true });
  };
  process.once("exit", remove); // also after an error outside the comparison
  try {
    run("git", ["worktree", "add", "--detach", "--quiet", dir, revision], { cwd: root });
    linkPackages(dir);
    run(process.execPath, [join(dir, "scripts", "build.mjs")], { cwd: dir });
    const app = join(dir, "bench", "app");
    rmSync(app, { recursive: true });
    cpSync(join(root, "bench", "app"), app, { recursive: true, filter: (path) => !/[\\/](dist|\.tsweb)$/.test(path) });
    return { dir, app, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Links the installed packages, but not tsweb: there it is that revision. */
function linkPackages(dir) {
  const packages = join(root, "node_modules");
  mkdirSync(join(dir, "node_modules"));
  for (const name of readdirSync(packages)) {
    if (name.startsWith(".") || name === "tsweb") continue;
    symlinkSync(join(packages, name), join(dir, "node_modules", name), "dir");
  }
  symlinkSync(dir, join(dir, "node_modules", "tsweb"), "dir");
}

const callTo = ({ address }) => callOf({ address, form: FORMS.tsweb }, { text: "hello", n: 42 });
const pageOf = ({ address }) => ({ url: `${address}/table`, method: "GET", headers: browserHeaders(address) });

/** Returns the processor time of a request, in µs, once V8 has optimized the code. */
async function measureRequests(where, targetOf, { seconds, warmUp, connections }) {
  const server = await startApp(where);
  try {
    const target = targetOf(server);
    await load(target, { seconds: warmUp, connections });
    const before = cpuMs(server.pid);
    const { requests } = await load(target, { seconds, connections });
    return ((cpuMs(server.pid) - before) * 1_000) / requests;
  } finally {
    await server.end();
  }
}

const contestantIn = (where) => ({ ...tsweb, start: (options) => tsweb.start({ ...options, ...where }) });

async function measureDeliveries(where) {
  const { cpu } = await measureDelivery(contestantIn(where), DELIVERIES);
  return cpu;
}

/** Returns the heap of a stream after garbage collections: the memory of the process depends on when the collector has run last. */
function measureMemory(where) {
  const contestant = contestantIn(where);
  const options = { connections: IDLE.warmUp, nodeArgs: ["--expose-gc"] };
  return withListeners(contestant, options, async ({ server: { address } }) => {
    const before = await callFunction(address, "used_heap", {});
    const listeners = await openListeners(await contestant.urlsOf(address, 1), { connections: IDLE.connections });
    try {
      return ((await callFunction(address, "used_heap", {})) - before) / 1_024 / IDLE.connections;
    } finally {
      await listeners.end();
    }
  });
}

/**
 * Measures both revisions in each round, in alternating order, each with a process of its own: of two processes with the same code, one
 * may take a third more for each request, as long as it runs, because V8 has optimized it in another order.
 *
 * @param measureOne called with the options of {@link startApp}, returns a value
 */
async function eachRound({ rounds, app }, row, measureOne) {
  const values = { own: [], other: [] };
  for (let round = 0; round < rounds; round++) {
    for (const revision of round % 2 === 0 ? ["other", "own"] : ["own", "other"]) {
      values[revision].push(await measureOne(revision === "other" ? { cwd: app } : {}));
    }
    process.stderr.write(`${row.name}: round ${round + 1} of ${rounds}\n`);
  }
  return { ...row, ...values };
}

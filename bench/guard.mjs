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
import { browserHeaders } from "./lib/load.mjs";
import { median, spread, table } from "./lib/numbers.mjs";
import { measure } from "./lib/rounds.mjs";
import { tsweb } from "./live/contestants.mjs";
import { measureDelivery } from "./live/delivery.mjs";

/**
 * The least ratio to the other revision, by processor time, and by the memory of an idle stream. Differences below it are within the
 * noise of the machine.
 */
const LEAST = { calls: 0.93, pages: 0.93, deliveries: 0.97, "memory of an idle stream": 0.97 };

/** 900 messages: a channel keeps 1,000, so that a slow reader gets no gap. */
const DELIVERIES = { connections: 1_000, rate: 300, seconds: 2 };

/**
 * @param revision a revision of Git, for example `main`
 * @param options `rounds`; `seconds` under load in a round, and `connections`, of calls and pages
 */
export async function guard(revision, options) {
  const rows = await compareWith(revision, options);
  const cells = rows.map(({ name, unit, own, other }) => [
    name,
    ...[other, own].map((values) => `${median(values).toFixed(1)} ${unit}`),
    spread(ratios({ own, other })),
    String(LEAST[name]),
  ]);
  const head = ["", revision, "this tree", "ratio, by round", "least"];
  console.log(`\n## This tree, of ${revision}\n\n${table(head, cells)}`);
  const worse = rows.filter((row) => median(ratios(row)) < LEAST[row.name]).map(({ name }) => name);
  if (worse.length > 0) fail(`\nWorse than ${revision}: ${worse.join(", ")}.`);
}

const ratios = ({ own, other }) => own.map((value, round) => other[round] / value);

/** Returns what each kind takes in each round, in both revisions. */
async function compareWith(revision, { rounds, seconds, connections }) {
  const other = checkOut(revision);
  try {
    const load = { rounds, seconds, connections, warmUp: 2 };
    buildApp();
    buildApp(other.app, other.dir);
    return [
      { name: "calls", unit: "µs", ...(await guardRequests(other, load, callTo)) },
      { name: "pages", unit: "µs", ...(await guardRequests(other, load, pageOf)) },
      ...(await guardDeliveries(other, rounds)),
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

async function guardRequests({ app }, load, targetOf) {
  const servers = [await startApp({ cwd: app }), await startApp()];
  try {
    const rows = await measure(
      servers.map((server) => ({ ...server, target: targetOf(server) })),
      load,
    );
    return { other: rows[0].cpu, own: rows[1].cpu };
  } finally {
    await Promise.all(servers.map(({ end }) => end()));
  }
}

async function guardDeliveries({ app }, rounds) {
  const deliveries = { name: "deliveries", unit: "µs", own: [], other: [] };
  const memory = { name: "memory of an idle stream", unit: "KiB", own: [], other: [] };
  for (let round = 0; round < rounds; round++) {
    for (const revision of round % 2 === 0 ? ["other", "own"] : ["own", "other"]) {
      const start = () => tsweb.start(revision === "other" ? { cwd: app } : {});
      const { cpu, kib } = await measureDelivery({ ...tsweb, start }, DELIVERIES);
      deliveries[revision].push(cpu);
      memory[revision].push(kib);
    }
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  return [deliveries, memory];
}

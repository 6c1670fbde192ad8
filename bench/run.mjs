// npm run bench                          the complete run, in about 15 minutes
// npm run bench -- --quick               the same with few rounds, in about 3 minutes
// npm run bench -- calls --node 24       one of: calls, pages, live, startup, dev, navigation, growth, sizing, queries, revocations, wakeups, fast
// npm run bench -- --guard <revision>    compares this tree with another revision; fails if this one is slower
import { arch, availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPackage, fail, installPackages, requireNode, root } from "../scripts/setup.mjs";

const BENCHES = [
  "calls",
  "pages",
  "live",
  "startup",
  "dev",
  "navigation",
  "growth",
  "sizing",
  "queries",
  "revocations",
  "wakeups",
  "fast",
];

/** What a complete run measures. The others take further minutes, and have no peers to be compared with. */
const COMPLETE = ["calls", "pages", "live", "startup", "dev"];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    guard: { type: "string" },
    node: { type: "string" },
    only: { type: "string" },
    rounds: { type: "string" },
    seconds: { type: "string" },
    connections: { type: "string" },
  },
});

const loadAtStart = loadavg()[0];
const cores = availableParallelism(); // live updates pin this process to one
const selected = positionals.length === 0 ? COMPLETE : positionals;
for (const name of selected)
  if (!BENCHES.includes(name)) fail(`Unknown benchmark ${name}. Valid benchmarks: ${BENCHES.join(", ")}.`);
if (values.full && selected.join() !== "live") fail("--full is an option of live: npm run bench -- live --full");
if (values.write && values.only !== undefined)
  fail("--write replaces all results of a benchmark, and --only measures a part of them. Leave out one of the two.");
const part = positionals.length === 0 ? "complete run" : [...positionals, ...(values.full ? ["--full"] : [])].join(" ");

requireNode();
installPackages();
installPackages(join(root, "bench"));
buildPackage();
// These modules import packages.
const { settingsOf } = await import("./lib/settings.mjs");
const { selectNode } = await import("./lib/nodes.mjs");
const { checkPart, writePart } = await import("./lib/document.mjs");
if (values.write) checkPart(part);

if (values.guard === undefined) await compare();
else await (await import("./guard.mjs")).guard(values.guard, { ...settingsOf("guard", {}), ...numbers() });
process.exit(); // connections to the measured servers may be open

async function compare() {
  const start = performance.now();
  const nodes = await selectedNodes();
  const sections = [];
  for (const name of selected) {
    const module = await import(`./${name}.mjs`);
    const settings = settingsOf(name, { isQuick: values.quick, isFull: values.full });
    sections.push(await module[name]({ ...settings, ...numbers(), only: values.only?.toLowerCase(), nodes }));
    process.stderr.write(`${name}: ${minutesSince(start)} minutes so far\n`);
  }
  const text = [machine(start), ...sections].join("\n\n");
  console.log(`\n${text}`);
  if (values.write) writePart(part, text);
}

/** The current Node, and in a complete run that is not quick also Node 24. */
async function selectedNodes() {
  if (values.node !== undefined) return [await selectNode(values.node)];
  const versions = values.quick || positionals.length > 0 ? [undefined] : [undefined, "24"];
  const nodes = await Promise.all(versions.map(selectNode));
  return nodes.filter(({ version }, i) => nodes.findIndex((node) => node.version === version) === i);
}

function numbers() {
  const given = Object.entries(values).filter(([name]) => ["rounds", "seconds", "connections"].includes(name));
  return Object.fromEntries(given.map(([name, text]) => [name, positive(name, text)]));
}

function positive(name, text) {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) fail(`--${name} must be an integer of at least 1. It is ${text}.`);
  return value;
}

function machine(start) {
  const busy = loadAtStart;
  const kind = values.quick ? "**Preliminary: a quick run with few rounds.** " : "";
  const warning = busy > 0.7 ? " The machine was busy: compare the ranges instead of the medians." : "";
  const processors = `${cores} × ${cpus()[0]?.model ?? arch()}`;
  const date = new Date().toISOString().slice(0, 10);
  return `${kind}${date}, ${processors}, load ${busy.toFixed(1)} at the start, ${minutesSince(start)} minutes.${warning}`;
}

function minutesSince(start) {
  return ((performance.now() - start) / 60_000).toFixed(1);
}

// npm run bench                          all benchmarks, in about five minutes
// npm run bench -- rpc --rounds 10       one of: rpc, pages, live, startup, dev, growth, sizing
import { arch, availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPackage, fail, installPackages, requireNode, root } from "../scripts/setup.mjs";

const BENCHES = ["rpc", "pages", "live", "startup", "dev", "growth", "sizing"];
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string" },
    seconds: { type: "string" },
    connections: { type: "string" },
    only: { type: "string" },
  },
});

const { only, ...numbers } = values;
const options = Object.fromEntries(Object.entries(numbers).map(([name, text]) => [name, positive(name, text)]));
if (only !== undefined) options.only = only.toLowerCase();
const selected = positionals.length === 0 ? BENCHES : positionals;
for (const name of selected)
  if (!BENCHES.includes(name)) fail(`Unknown benchmark ${name}. Valid benchmarks: ${BENCHES.join(", ")}.`);

requireNode();
installPackages();
installPackages(join(root, "bench"));
buildPackage();

console.log(`# tsweb, side by side\n\n${machine()}`);
for (const name of selected) {
  const module = await import(`./${name}.mjs`);
  console.log(`\n${await module[name](options)}`);
}

function positive(name, text) {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) fail(`--${name} must be an integer of at least 1. It is ${text}.`);
  return value;
}

function machine() {
  const busy = loadavg()[0];
  const warning = busy > 0.7 ? "\n\nThe machine was busy at the start: compare the ranges instead of the medians." : "";
  const cores = `${availableParallelism()} × ${cpus()[0]?.model ?? arch()}`;
  return `Node ${process.version}, ${cores}, load ${busy.toFixed(1)} at the start.${warning}`;
}

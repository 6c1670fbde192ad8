// npm run bench                          everything, in under four minutes
// npm run bench -- rpc --rounds 10       one of: rpc, pages, live, startup, dev
import { existsSync, statSync } from "node:fs";
import { arch, availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPackage, fail, installPackages, requireNode, root, run } from "../scripts/setup.mjs";

const BENCHES = ["rpc", "pages", "live", "startup", "dev"];
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
const chosen = positionals.length === 0 ? BENCHES : positionals;
for (const name of chosen)
  if (!BENCHES.includes(name)) fail(`There is no measurement ${name}. There are: ${BENCHES.join(", ")}.`);

requireNode();
installPackages();
installPeers();
buildPackage();

console.log(`# tsweb, side by side\n\n${machine()}`);
for (const name of chosen) {
  const module = await import(`./${name}.mjs`);
  console.log(`\n${await module[name](options)}`);
}

function positive(name, text) {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) fail(`--${name} takes a whole number from 1, not ${text}.`);
  return value;
}

/** The peers are packages of this folder alone, installed when they are first needed. */
function installPeers() {
  const folder = join(root, "bench");
  const installed = join(folder, "node_modules", ".package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(folder, "package-lock.json")).mtimeMs)
    return;
  console.log("Installing what tsweb is measured against (once) …");
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  run(npm, ["ci", "--no-workspaces", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder });
}

function machine() {
  const busy = loadavg()[0];
  const warning = busy > 0.7 ? "\n\nThe machine was busy when this began: read the spreads, not the medians." : "";
  const cores = `${availableParallelism()} × ${cpus()[0]?.model ?? arch()}`;
  return `Node ${process.version}, ${cores}, load ${busy.toFixed(1)} at the start.${warning}`;
}

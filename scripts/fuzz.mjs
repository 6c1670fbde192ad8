// Sends what nobody would send: 100,000 requests to the application of the wire suite in this process, and a
// fiftieth of that as bytes to a built server. Whatever comes, the answer is one of the interface's, and nothing dies.
//
//   npm run fuzz                                    another seed each time; it is printed
//   npm run fuzz -- --seed 7 --runs 1000            so many of that seed
//   npm run fuzz -- --seed 7 --from 423 --runs 1    the one request that was told of
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { runnerImport } from "vite";
import { buildPackage, installPackages, requireNode, root } from "./setup.mjs";

const { values } = parseArgs({
  options: { seed: { type: "string" }, runs: { type: "string" }, from: { type: "string" } },
});
const whole = (text, otherwise) => (/^\d+$/.test(text ?? "") ? Number(text) : otherwise);
const seed = whole(values.seed, randomInt(2 ** 31));
const from = whole(values.from, 0);
const runs = whole(values.runs, 100_000);

requireNode();
installPackages();
buildPackage();
process.chdir(root);
const load = async (file) => (await runnerImport(join(root, "tests", file), { logLevel: "error" })).module;
const { fuzzInProcess, fuzzOverSockets } = await load("fuzz/index.ts");
const { buildWireSite, openWire } = await load("support/wire-app.ts");
const { startBuilt } = await load("support/run-tsweb.ts");

console.log(`Seed ${seed}: requests ${from} to ${from + runs - 1}`);
const began = performance.now();
const faults = [];
const unhandled = (error) =>
  faults.push({ number: "?", request: "", fault: `Nobody took up: ${error?.stack ?? error}` });
process.on("unhandledRejection", unhandled).on("uncaughtException", unhandled);

const site = await buildWireSite();
try {
  process.env.WEB_ENV = "development";
  const built = (await import(pathToFileURL(site.file("dist/app.mjs")).href)).default;
  const said = console.error;
  console.error = () => undefined; // what fails on purpose is told to a person at a terminal
  const inProcess = await fuzzInProcess(
    ["plain", "csrf", "origin", "proxy"].map((variant) => openWire(built, variant)),
    { seed, from, runs },
  );
  console.error = said;
  report("in process", inProcess);

  const server = await startBuilt(site.dir, { WEB_ENV: "development" });
  const overSockets = await fuzzOverSockets(server.address, { seed, from, runs: Math.ceil(runs / 50) });
  report("over sockets", overSockets);
  const pong = await fetch(`${server.address}/healthz`).then((response) => response.status, String);
  if (pong !== 200) faults.push({ number: "?", request: "GET /healthz", fault: `The server answers ${pong}` });
  const code = await server.stop();
  if (code !== 0)
    faults.push({ number: "?", request: "", fault: `The server ended with ${code}\n${server.output().slice(-2000)}` });
} finally {
  site.remove();
}

function report(where, result) {
  faults.push(...result.faults.map((each) => ({ ...each, number: `${each.number} ${where}` })));
  const counts = Object.entries(result.statuses).map(([status, count]) => `${status}: ${count}`);
  console.log(`${where}: ${counts.join(", ")}`);
}

for (const { number, request, fault } of faults) console.log(`\nRequest ${number}: ${fault}\n  ${request}`);
console.log(
  `\n${faults.length} faults, ${((performance.now() - began) / 1000).toFixed(1)} s. Again: npm run fuzz -- --seed ${seed}`,
);
process.exit(faults.length > 0 ? 1 : 0);

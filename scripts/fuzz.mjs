// Fuzzes the application of the wire suite: sends 100,000 generated requests to it in this process, and 2,000 sequences
// of bytes to its built server, and 1,000 hostile multipart bodies. Every response must follow docs/protocol.md, and the server must keep running.
//
//   npm run fuzz                                    uses a random seed, and prints it
//   npm run fuzz -- --seed 7 --runs 1000            sends the first 1,000 requests of seed 7
//   npm run fuzz -- --seed 7 --from 423 --runs 1    repeats one request
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { runnerImport } from "vite";
import { buildPackage, installPackages, requireNode, root } from "./setup.mjs";

const { values } = parseArgs({
  options: { seed: { type: "string" }, runs: { type: "string" }, from: { type: "string" } },
});
const parseCount = (text, fallback) => (/^\d+$/.test(text ?? "") ? Number(text) : fallback);
const seed = parseCount(values.seed, randomInt(2 ** 31));
const from = parseCount(values.from, 0);
const runs = parseCount(values.runs, 100_000);

requireNode();
installPackages();
buildPackage();
process.chdir(root);
const load = async (file) => (await runnerImport(join(root, "tests", file), { logLevel: "error" })).module;
const { fuzzInProcess, fuzzMultipart, fuzzOverSockets } = await load("fuzz/index.ts");
const { buildWireProject, createWireApp } = await load("support/wire-app.ts");
const { startBuilt } = await load("support/run-tsweb.ts");

console.log(`Seed ${seed}: requests ${from} to ${from + runs - 1}`);
const startedAt = performance.now();
const failures = [];
const recordUnhandled = (error) =>
  failures.push({ number: "?", request: "", reason: `Unhandled error: ${error?.stack ?? error}` });
process.on("unhandledRejection", recordUnhandled).on("uncaughtException", recordUnhandled);

const project = await buildWireProject();
try {
  process.env.WEB_ENV = "development";
  const wireModule = (await import(pathToFileURL(project.file("dist/app.mjs")).href)).default;
  const consoleError = console.error;
  console.error = () => undefined; // In development, errors are logged to the console. Many requests cause some.
  const inProcess = await fuzzInProcess(
    ["plain", "csrf", "origin", "proxy"].map((variant) => createWireApp(wireModule, variant)),
    { seed, from, runs },
  );
  console.error = consoleError;
  report("in process", inProcess);

  report("multipart bodies", await fuzzMultipart({ seed, from, runs: Math.min(runs, 1_000) }));

  const server = await startBuilt(project.dir, { WEB_ENV: "development" });
  const overSockets = await fuzzOverSockets(server.address, { seed, from, runs: Math.ceil(runs / 50) });
  report("over sockets", overSockets);
  const health = await fetch(`${server.address}/healthz`).then((response) => response.status, String);
  if (health !== 200) {
    failures.push({ number: "?", request: "GET /healthz", reason: `The server responded with ${health}` });
  }
  const exitCode = await server.stop();
  if (exitCode !== 0) {
    const output = server.output().slice(-2000);
    failures.push({ number: "?", request: "", reason: `The server exited with status ${exitCode}\n${output}` });
  }
} finally {
  project.remove();
}

function report(transport, result) {
  failures.push(...result.failures.map((failure) => ({ ...failure, number: `${failure.number} ${transport}` })));
  const counts = Object.entries(result.statuses).map(([status, count]) => `${status}: ${count}`);
  console.log(`${transport}: ${counts.join(", ")}`);
}

for (const { number, request, reason } of failures) console.log(`\nRequest ${number}: ${reason}\n  ${request}`);
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
console.log(`\n${failures.length} failures in ${seconds} s. To repeat: npm run fuzz -- --seed ${seed}`);
process.exit(failures.length > 0 ? 1 : 0);

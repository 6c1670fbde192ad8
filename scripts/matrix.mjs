// Holds the built server to the suite of the wire on every runtime that it is said to run on, and prints a table.
// Arguments choose some of them: npm run matrix -- bun "node 24"
import { join } from "node:path";
import { runnerImport } from "vite";
import { buildPackage, installPackages, requireNode, root } from "./setup.mjs";

requireNode();
installPackages();
buildPackage();
process.chdir(root);
const { module } = await runnerImport(join(root, "tests", "conformance", "matrix.ts"), { logLevel: "error" });
const { RUNTIMES, buildWireSite, tryRuntime } = module;

const wanted = process.argv.slice(2).map((each) => each.toLowerCase());
const runtimes = RUNTIMES.filter(
  ({ name }) => wanted.length === 0 || wanted.some((each) => name.toLowerCase().includes(each)),
);
if (runtimes.length === 0) {
  console.error(`There are: ${RUNTIMES.map(({ name }) => name).join(", ")}.`);
  process.exit(1);
}

const outcomes = [];
const site = await buildWireSite();
try {
  for (const runtime of runtimes) {
    console.error(`${runtime.name} …`);
    outcomes.push(...(await tryRuntime(runtime, site.dir)));
  }
} finally {
  site.remove();
}

for (const { runtime, way, failures } of outcomes) {
  for (const { row, message } of failures)
    console.log(`${runtime}, ${way}: ${row}\n  ${message.replaceAll("\n", "\n  ")}`);
}
console.log(`\n${"runtime".padEnd(16)}${"way".padEnd(18)}${"passed".padStart(7)}${"failed".padStart(8)}`);
for (const { runtime, way, passed, failures } of outcomes) {
  console.log(
    `${runtime.padEnd(16)}${way.padEnd(18)}${String(passed).padStart(7)}${String(failures.length).padStart(8)}`,
  );
}
process.exit(outcomes.some(({ failures }) => failures.length > 0) ? 1 : 0);

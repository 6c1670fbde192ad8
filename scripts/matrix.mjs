// Runs the wire suite and the suite of tsweb/auth on every supported runtime, and the wire suite in Nitro. Prints a
// table of the results.
//
//   npm run matrix                     all runtimes, and Nitro
//   npm run matrix -- bun "node 24"    those whose name contains one of the arguments
import { join } from "node:path";
import { runnerImport } from "vite";
import { buildPackage, installPackages, requireNode, root } from "./setup.mjs";

requireNode();
installPackages();
buildPackage();
process.chdir(root);
const { module } = await runnerImport(join(root, "tests", "conformance", "matrix.ts"), { logLevel: "error" });
const { TARGETS, buildWireProject } = module;

const filters = process.argv.slice(2).map((filter) => filter.toLowerCase());
const targets = TARGETS.filter(
  ({ name }) => filters.length === 0 || filters.some((filter) => name.toLowerCase().includes(filter)),
);
if (targets.length === 0) {
  console.error(
    `No target matches ${filters.join(", ")}. Available targets: ${TARGETS.map(({ name }) => name).join(", ")}.`,
  );
  process.exit(1);
}

const results = [];
const project = await buildWireProject();
try {
  for (const target of targets) {
    console.error(`${target.name} …`);
    results.push(...(await target.test(project.dir)));
  }
} finally {
  project.remove();
}

for (const { runtime, subject, failures } of results) {
  for (const { title, message } of failures)
    console.log(`${runtime}, ${subject}: ${title}\n  ${message.replaceAll("\n", "\n  ")}`);
}
console.log(`\n${"runtime".padEnd(24)}${"subject".padEnd(18)}${"passed".padStart(7)}${"failed".padStart(8)}`);
for (const { runtime, subject, passed, failures } of results) {
  console.log(
    `${runtime.padEnd(24)}${subject.padEnd(18)}${String(passed).padStart(7)}${String(failures.length).padStart(8)}`,
  );
}
process.exit(results.some(({ failures }) => failures.length > 0) ? 1 : 0);

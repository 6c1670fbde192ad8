// Installs the programs that the tests need, builds and runs them. Arguments are passed to Vitest: `npm test -- src/http`.
// With --built, the package was built just before.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installPrograms, programs, programsOf } from "./programs.mjs";
import { buildPackage, installPackages, requireNode, root } from "./setup.mjs";

requireNode();
installPackages();
const args = process.argv.slice(2).filter((arg) => arg !== "--built");
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const files = args.length > 0 ? selectedFiles() : undefined;
installPrograms(files ? programsOf(files) : Object.values(programs));
// Unit tests import src/ itself.
const needsBuild = !files || files.some((file) => !file.startsWith("src/"));
if (needsBuild && !process.argv.includes("--built")) buildPackage();

const folder = mkdtempSync(join(tmpdir(), "tsweb-tests-"));
const report = join(folder, "report.json");
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
const { status } = spawnSync(process.execPath, [vitest, "run", ...reporters, ...args], {
  cwd: root,
  stdio: "inherit",
});
const { numPassedTests, numFailedTests, numTotalTestSuites, numPassedTestSuites } = JSON.parse(
  readFileSync(report, "utf8"),
);
rmSync(folder, { recursive: true });
// A file that could not be loaded fails without a failed test.
const failed = numFailedTests === 0 && numPassedTestSuites < numTotalTestSuites ? 1 : numFailedTests;
console.log(`${numPassedTests} passed, ${failed} failed`);
process.exit(status === 0 && numPassedTests === 0 ? 1 : (status ?? 1));

/** Returns the test files that the arguments select. */
function selectedFiles() {
  const { status, stdout } = spawnSync(process.execPath, [vitest, "list", "--filesOnly", ...args], {
    ...{ cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  });
  if (status !== 0) process.exit(status ?? 1);
  return [...stdout.matchAll(/^\[\S+\] (\S+)$/gm)].map(([, file]) => file);
}

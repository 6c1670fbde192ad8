// Installs, builds and runs the tests. Arguments are passed to Vitest: `npm test -- src/http`. With --built, the package was
// built just before.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPackage, installPackages, installPrograms, programs, requireNode, root } from "./setup.mjs";

requireNode();
installPackages();
installPrograms(Object.values(programs));
const args = process.argv.slice(2).filter((arg) => arg !== "--built");
if (!process.argv.includes("--built")) buildPackage();

const folder = mkdtempSync(join(tmpdir(), "tsweb-tests-"));
const report = join(folder, "report.json");
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
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

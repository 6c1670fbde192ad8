// Runs tests, and prints the processor time and the duration of each file, and the number of tests in each folder of tests/ and
// src/: `npm run times -- tests/browser`. The processor time is that of all processes that a file starts; it needs /proc of Linux.
// Files that run in threads, those of src/ that keep state, have a duration only.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { root } from "./setup.mjs";

const folder = mkdtempSync(join(tmpdir(), "tsweb-times-"));
const recorded = join(folder, "times.jsonl");
const report = join(folder, "report.json");
const { status } = spawnSync(
  process.execPath,
  [
    join(root, "node_modules/vitest/vitest.mjs"),
    ...["run", "--reporter=dot", "--reporter=json", `--outputFile.json=${report}`],
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: "inherit", env: { ...process.env, TSWEB_TEST_TIMES: recorded } },
);
const lines = existsSync(recorded) ? readFileSync(recorded, "utf8").trim().split("\n") : [];
const seconds = new Map(lines.map((line) => JSON.parse(line)).map((each) => [each.file, each.seconds]));
const files = JSON.parse(readFileSync(report, "utf8")).testResults.map(
  ({ name, startTime, endTime, assertionResults }) => ({
    file: relative(root, name),
    cpu: seconds.get(name) ?? 0,
    wall: (endTime - startTime) / 1000,
    tests: assertionResults.length,
  }),
);
rmSync(folder, { recursive: true });

const print = (name, { cpu, wall, tests }) =>
  console.log([cpu.toFixed(1), wall.toFixed(1), tests].map((text) => String(text).padStart(9)).join(""), ` ${name}`);
const sum = (list) => ({
  cpu: list.reduce((total, { cpu }) => total + cpu, 0),
  wall: list.reduce((total, { wall }) => total + wall, 0),
  tests: list.reduce((total, { tests }) => total + tests, 0),
});
const kinds = [...new Set(files.map(kindOf))].sort();

console.log("\n  cpu (s) wall (s)    tests");
for (const each of files.toSorted((one, other) => other.cpu - one.cpu || other.wall - one.wall)) print(each.file, each);
console.log("");
for (const kind of kinds) {
  const list = files.filter((each) => kindOf(each) === kind);
  print(`${kind}: ${list.length} files`, sum(list));
}
print("all", sum(files));
process.exit(status ?? 1);

/** Returns the folder that a file is counted for: `src`, or that in tests/. */
function kindOf({ file }) {
  return file.split("/", file.startsWith("src/") ? 1 : 2).join("/");
}

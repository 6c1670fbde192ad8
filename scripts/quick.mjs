// Checks the change at hand: format, lint, types, and the unit tests of the folders of src/ that it touches and of those that
// import them directly. The change is what is not committed, or else the last commit; `npm run quick -- main` takes
// everything since main. It installs and starts no programs.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isTypesOnly, MAY_IMPORT, nameOf, partOf, parts, SHARED } from "./imports/table.mjs";
import { installPackages, requireNode, root, run } from "./setup.mjs";

requireNode();
installPackages();
const [base] = process.argv.slice(2);
const uncommitted = () => [...git("diff", "--name-only", "HEAD"), ...git("ls-files", "--others", "--exclude-standard")];
let changed = base ? [...git("diff", "--name-only", base), ...uncommitted()] : uncommitted();
if (!base && changed.length === 0) changed = git("diff", "--name-only", "HEAD~1");

const bin = (name) => join(root, "node_modules", ".bin", name);
const existing = changed.filter((path) => existsSync(join(root, path)));
if (existing.length > 0) run(bin("biome"), ["ci", "--error-on-warnings", "--no-errors-on-unmatched", ...existing]);
const types = join(root, "node_modules", ".cache", "tsweb-types.tsbuildinfo");
run(bin("tsc"), ["--noEmit", "--incremental", "--tsBuildInfoFile", types]);

const touched = [...new Set(changed.filter((path) => path.startsWith("src/")).map(partOf))].filter(Boolean);
const tests = parts
  .filter((part) => touched.some((name) => part === name || importsValuesOf(part, name)))
  .flatMap(testsOf);
if (tests.length > 0) {
  console.log(`\nThe tests of ${touched.join(", ")} and of what imports them:`);
  run(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", "--reporter=dot", ...tests]);
}
const others = existing.filter((path) => /^tests\/.*\.test\.ts$/.test(path));
if (others.length > 0) console.log(`\nNot run, because they may need programs: npm test -- ${others.join(" ")}`);

function git(...args) {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.split("\n").filter(Boolean) : [];
}

/** Returns whether the table of imports lets a part import more than types of another one. */
function importsValuesOf(part, name) {
  if (SHARED.includes(name)) return true;
  return MAY_IMPORT[part].some((entry) => nameOf(entry) === name && !isTypesOnly(entry));
}

/** Returns the paths of the unit tests in the folder of a part, or of a part that is a single file. */
function testsOf(part) {
  const [folder, only] = part.endsWith(".ts") ? ["src", part.replace(/\.ts$/, ".test.ts")] : [`src/${part}`];
  const names = readdirSync(join(root, folder)).filter((name) => (only ? name === only : name.endsWith(".test.ts")));
  return names.map((name) => `${folder}/${name}`);
}

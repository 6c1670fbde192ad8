// Checks the change at hand: format, lint, types, and the unit tests of the folders of src/ that it touches and of the files
// that import them directly. The change is what is not committed, or else the last commit; `npm run quick -- main` takes
// everything since main. It installs and starts no programs.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { partOf } from "./imports/table.mjs";
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
const tests = testsFor(touched);
if (tests.length > 0) {
  console.log(`\nThe tests of ${touched.join(", ")} and of the files that import them:`);
  run(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", "--reporter=dot", ...tests]);
}
const others = existing.filter((path) => /^tests\/.*\.test\.ts$/.test(path));
if (others.length > 0) console.log(`\nNot run, because they may need programs: npm test -- ${others.join(" ")}`);

function git(...args) {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.split("\n").filter(Boolean) : [];
}

/**
 * Returns the unit tests of parts of src/, and those of the files that import more than types of these parts: the tests that
 * import such a file, or a changed part, themselves.
 */
function testsFor(touched) {
  const imports = new Map(sourceFiles().map((file) => [file, importedBy(file)]));
  const isTouched = (file) => touched.includes(partOf(file));
  const files = [...imports.keys()];
  const importers = new Set(files.filter((file) => imports.get(file).some(isTouched)));
  return files.filter((file) => {
    if (!/\.test\.tsx?$/.test(file)) return false;
    return isTouched(file) || importers.has(file) || imports.get(file).some((imported) => importers.has(imported));
  });
}

/** Returns the modules of src/, with their tests. */
function sourceFiles() {
  const files = readdirSync(join(root, "src"), { recursive: true }).map((file) => `src/${file.replaceAll("\\", "/")}`);
  return files.filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"));
}

/** Returns the modules of src/ that a module imports. Imports of types only do not count. */
function importedBy(file) {
  const code = readFileSync(join(root, file), "utf8");
  const imports = code.matchAll(/^(?:import|export) (?!type )[^"';]*?from "(\.[^"]+)"/gm);
  return [...imports].map(([, path]) => posix.join(posix.dirname(file), path));
}

// Runs every check of CI: format and lint, imports, types, unused code, the package, sizes, tests.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { buildPackage, installPackages, requireNode, root, run } from "./setup.mjs";

const bin = (name) => join(root, "node_modules", ".bin", name);
const step = (title, work) => {
  console.log(`\n— ${title}`);
  work();
};

requireNode();
installPackages();
step("Format and lint", () => run(bin("biome"), ["ci", "--error-on-warnings", "."]));
step("Imports", () => run(process.execPath, [join(root, "scripts", "imports.mjs")]));
step("Build", buildPackage);
step("Types", () => run(bin("tsc"), ["--noEmit"]));
for (const example of readdirSync(join(root, "examples"))) {
  step(`Types of examples/${example}`, () => run(bin("tsc"), ["--noEmit", "-p", `examples/${example}`]));
}
step("Types of the panel", () => run(bin("tsc"), ["--noEmit", "-p", "panel"]));
step("Unused code", () => run(bin("knip")));
step("Package", () => {
  run(bin("publint"), ["--strict"]);
  run(bin("attw"), ["--pack", ".", "--profile", "esm-only"]);
});
step("Sizes", () => run(process.execPath, [join(root, "scripts", "sizes.mjs")]));
step("Tests", () => run(process.execPath, [join(root, "scripts", "test.mjs")]));

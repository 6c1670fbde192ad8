// Builds the package: compiles src/ to dist/, file by file, so that stacks and types refer to the original files.
// --clean deletes the files of earlier builds first.
import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
if (process.argv.includes("--clean")) rmSync(`${root}/dist`, { recursive: true, force: true });
const tsc = `${root}/node_modules/typescript/bin/tsc`;
const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });

// The compiler does not copy hand-written declaration files.
copyFileSync(`${root}/src/assets.d.ts`, `${root}/dist/assets.d.ts`);
for (const file of ["index.d.ts", "browser/index.d.ts"]) {
  const path = `${root}/dist/${file}`;
  writeFileSync(
    path,
    readFileSync(path, "utf8").replace("../src/assets.d.ts", "./assets.d.ts").replace(".././", "../"),
  );
}

// The compiler wraps a dynamic import of a computed URL in a helper that replaces .ts by .js. The URLs in these files are
// those of built files, and the helper would be a tenth of the page script.
const HELPER = /^var __rewriteRelativeImportExtension = [\s\S]*?\n\};\n/m;
for (const file of ["browser/islands.js", "cli/serve.js"]) {
  const path = `${root}/dist/${file}`;
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(HELPER, "").replace(/__rewriteRelativeImportExtension(\(.*\))\)/, "$1)"));
}

// The template of tsweb new, in one file: npm would leave the .gitignore out of the package.
const ignored = /^(node_modules|dist)\/|^package-lock\.json$/; // exist if the template was run in place
const names = readdirSync(`${root}/template`, { recursive: true })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => !ignored.test(name) && statSync(`${root}/template/${name}`).isFile())
  .sort();
const template = names.map((name) => [name, readFileSync(`${root}/template/${name}`, "utf8")]);
writeFileSync(`${root}/dist/cli/template.json`, JSON.stringify(Object.fromEntries(template)));
process.exit(status ?? 1);

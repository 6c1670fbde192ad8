// Builds the package: compiles src/ to dist/, file by file, so that stacks and types refer to the original files. The
// commands and the compile step are bundled then. Files of modules that src/ had at an earlier build are removed.
// --clean deletes all files of earlier builds first.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";
import { bundleCommands } from "./bundle.mjs";
import { copyCreatePackage } from "./create-package.mjs";
import { buildPanel } from "./panel.mjs";
import { writeTemplates } from "./templates.mjs";

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
for (const file of ["browser/islands.js", "cli/index.js"]) {
  const path = `${root}/dist/${file}`;
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(HELPER, "").replace(/__rewriteRelativeImportExtension(\(.*\))\)/, "$1)"));
}

removeStaleFiles(`${root}/dist`);
removeDocblocks(`${root}/dist`);
writeTemplates(root, `${root}/dist/cli/templates`);
copyCreatePackage(root);
await bundleCommands(join(root, "dist"));
if (status !== 0) process.exit(status ?? 1);
buildPanel(root);

/** Removes the files of modules that src/ no longer has: npm would pack them. Bundles have no modules in src/, and stay. */
function removeStaleFiles(dist) {
  const isBundle = (name) => /^(?:cli\/(?:bundles|templates)|development|panel\/app|\.compile-cache)\//.test(name);
  const hasSource = (path) =>
    [".ts", ".tsx", ".d.ts"].some((extension) => existsSync(join(root, "src", path) + extension));
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    const [, path] = /^(.*?)(?:\.d\.ts|\.js)$/.exec(name.replaceAll("\\", "/")) ?? [];
    if (path !== undefined && !isBundle(path) && !hasSource(path)) rmSync(join(dist, name));
  }
}

/** Removes the docblocks of scripts: editors read those of the declarations, and they would be a quarter of all scripts. */
function removeDocblocks(folder) {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".js"));
  for (const path of paths.map((name) => join(folder, name))) {
    const text = readFileSync(path, "utf8");
    const docblocks = parseSync(path, text).comments.filter(({ value }) => value.startsWith("*"));
    const kept = docblocks.reduceRight((rest, { start, end }) => removeLines(rest, start, end), text);
    if (docblocks.length > 0) writeFileSync(path, kept);
  }
}

/** Removes a part of a text, with the whole lines that it leaves empty. */
function removeLines(text, start, end) {
  const before = text.slice(0, start).replace(/[ \t]+$/, "");
  const after = text.slice(end);
  const isWholeLine = /(^|\n)$/.test(before) && /^\r?\n/.test(after);
  return isWholeLine ? before + after.replace(/^\r?\n/, "") : text.slice(0, start) + after;
}

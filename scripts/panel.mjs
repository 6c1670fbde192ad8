// Builds the panel of `tsweb dev`, an application, with the command line that was just built.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The parts of the build that the package contains. `tsweb dev` serves them without the others. */
const PARTS = ["app.mjs", "manifest.mjs", "client"];

/** Not in the package: source maps, and the compressed copies, which are of no use on the same machine. */
const LEFT_OUT = /\.(?:br|gz|map)$/;

/** Builds the folder `src/panel/app` into the package, unless neither it nor the built package has changed. */
export function buildPanel(root) {
  const app = join(root, "src", "panel", "app");
  const built = join(app, "dist");
  const target = join(root, "dist", "panel", "app");
  const stamp = join(root, "node_modules", ".cache", "tsweb", "panel");
  const inputs = [app, join(root, "dist"), join(root, "package-lock.json")].flatMap(filesBelow);
  const hash = hashOf(inputs.filter((file) => !file.startsWith(target) && !file.startsWith(built)));
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  const args = [join(root, "bin", "tsweb.js"), "build", app];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`The panel could not be built.\n${stdout}${stderr}`);
  rmSync(target, { recursive: true, force: true });
  for (const name of PARTS) {
    cpSync(join(built, name), join(target, name), { recursive: true, filter: (source) => !LEFT_OUT.test(source) });
  }
  rmSync(built, { recursive: true });
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, hash);
}

function filesBelow(path) {
  if (!statSync(path).isDirectory()) return [path];
  const isSource = (name) => !["node_modules", ".tsweb", ".compile-cache"].includes(name);
  return readdirSync(path)
    .filter(isSource)
    .flatMap((name) => filesBelow(join(path, name)));
}

/** Returns a hash of the names and texts of files. */
function hashOf(files) {
  const hash = createHash("sha256");
  for (const file of files.toSorted()) hash.update(`${file}\0`).update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

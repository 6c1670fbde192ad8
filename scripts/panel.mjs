// Builds the panel of `tsweb dev`, an application, with the command line that was just built.
import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";

/** The parts of the build that the package contains. `tsweb dev` serves them without the others. */
const PARTS = ["app.mjs", "manifest.mjs", "client"];

/** Not in the package: source maps, and the compressed copies, which are of no use on the same machine. */
const LEFT_OUT = /\.(?:br|gz|map)$/;

/** Builds the folder `panel` of the repository into the package. */
export function buildPanel(root) {
  const built = join(root, "panel", "dist");
  const args = [join(root, "bin", "tsweb.js"), "build", join(root, "panel")];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`The panel could not be built.\n${stdout}${stderr}`);
  const target = join(root, "dist", "panel", "app");
  rmSync(target, { recursive: true, force: true });
  for (const name of PARTS) {
    cpSync(join(built, name), join(target, name), { recursive: true, filter: (source) => !LEFT_OUT.test(source) });
  }
  rmSync(built, { recursive: true });
}

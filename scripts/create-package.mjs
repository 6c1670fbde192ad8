// The package create-tsweb: the modules of `tsweb new` without the rest of tsweb, so that `npm create tsweb` downloads no
// packages that only the new project needs.
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

/** Copies the built modules into packages/create-tsweb/, in the same folders as in dist/. */
export function copyCreatePackage(root) {
  const target = join(root, "packages/create-tsweb/dist");
  rmSync(target, { recursive: true, force: true });
  const source = join(root, "dist");
  for (const path of modulesOf(source, "cli/create.js")) cpSync(join(source, path), join(target, path));
  cpSync(join(source, "cli/templates"), join(target, "cli/templates"), { recursive: true });
}

/** The folders of the modules: an import of another one would bring much more code. */
const FOLDERS = /^(?:cli|text)\//;

/** Returns the paths of a module and of all modules that it imports, relative to a folder. */
function modulesOf(folder, entry) {
  const found = new Set([entry]);
  for (const path of found) {
    if (!existsSync(join(folder, path))) throw new Error(`${path} is not built, and create-tsweb needs it.`);
    const imports = readFileSync(join(folder, path), "utf8").matchAll(/\bfrom "(\.[^"]*)"|\bimport\("(\.[^"]*)"\)/g);
    for (const [, from, dynamic] of imports) {
      const imported = join(dirname(path), from ?? dynamic);
      if (!FOLDERS.test(imported)) {
        throw new Error(
          `${path} imports ${from ?? dynamic}. create-tsweb contains modules of src/cli/ and src/text/ only.`,
        );
      }
      found.add(imported);
    }
  }
  return found;
}

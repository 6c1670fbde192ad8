// The package create-tsweb: the modules of `tsweb new` without the rest of tsweb, so that `npm create tsweb` downloads no
// packages that only the new project needs.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

/** Copies the built modules into packages/create-tsweb/, in the same folders as in dist/. */
export function copyCreatePackage(root) {
  const target = join(root, "packages/create-tsweb/dist/cli");
  rmSync(dirname(target), { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const source = join(root, "dist/cli");
  for (const name of modulesOf(source, "create.js")) cpSync(join(source, name), join(target, name));
  cpSync(join(source, "templates"), join(target, "templates"), { recursive: true });
}

/** Returns the names of a module and of all modules that it imports, which must be in the same folder. */
function modulesOf(folder, entry) {
  const found = new Set([entry]);
  for (const name of found) {
    if (!existsSync(join(folder, name))) throw new Error(`${name} is not built, and create-tsweb needs it.`);
    const imports = readFileSync(join(folder, name), "utf8").matchAll(/\bfrom "(\.[^"]*)"|\bimport\("(\.[^"]*)"\)/g);
    for (const [, from, dynamic] of imports) {
      const path = from ?? dynamic;
      if (!/^\.\/[\w-]+\.js$/.test(path)) {
        throw new Error(`${name} imports ${path}. create-tsweb contains modules of src/cli/ only.`);
      }
      found.add(path.slice(2));
    }
  }
  return found;
}

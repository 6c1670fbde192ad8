import { fileURLToPath } from "node:url";
import { normalizePath } from "vite";
import { isInNodeModules } from "./syntax/index.ts";

/** The folder of tsweb's own modules. A linked copy of the package is not below `node_modules`. */
const OWN_FOLDER = normalizePath(fileURLToPath(new URL("..", import.meta.url)));

/** Returns whether a file belongs to an installed package or to tsweb itself, and not to the project. */
export function isPackageModule(file: string): boolean {
  return isInNodeModules(file) || file.startsWith(OWN_FOLDER);
}

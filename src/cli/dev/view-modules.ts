import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isServerModule } from "../../compile/index.ts";

const SCRIPT = /\.[jt]sx?$/;

/**
 * Returns the modules of an application that may declare views, relative to the root. Vite searches them for packages when
 * `tsweb dev` starts. A package that it found only when a page loads it would reload this page.
 *
 * Errs towards too few: a package of a missing module is found later.
 *
 * @param entry the application module. Modules outside of its folder are not searched
 */
export function viewModules(root: string, entry: string): string[] {
  const folder = dirname(entry);
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => SCRIPT.test(file) && !file.includes("node_modules") && !isServerModule(file, root))
    .filter(mayDeclareViews)
    .map((file) => relative(root, file).replaceAll("\\", "/"));
}

function mayDeclareViews(file: string): boolean {
  const code = readFileSync(file, "utf8");
  return /["']tsweb\/browser["']/.test(code) && /\bview\b/.test(code);
}

/** What an installation of the package brings. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** An installed package that is needed at run time or to build: no development dependency. */
export interface InstalledPackage {
  readonly name: string;
  /** The sizes of its files, without packages inside. */
  readonly bytes: number;
}

/** Lists the packages that npm has installed into a project for its `dependencies`, the largest one first. */
export function installedPackages(dir: string): InstalledPackage[] {
  const lock = JSON.parse(readFileSync(join(dir, "node_modules/.package-lock.json"), "utf8"));
  const entries: [string, { readonly dev?: boolean; readonly devOptional?: boolean }][] = Object.entries(lock.packages);
  return entries
    .filter(([, { dev, devOptional }]) => !dev && !devOptional)
    .map(([path]) => ({ name: relative("node_modules", path), bytes: bytesBelow(join(dir, path)) }))
    .toSorted((one, other) => other.bytes - one.bytes);
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    if (entry.name === "node_modules") return sum;
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? bytesBelow(path) : statSync(path).size);
  }, 0);
}

import { readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the files below a folder, without those in `node_modules` and behind links; `undefined` if it does not exist. `readdir` with
 * `recursive` follows links since Node 22: one to installed packages, which link to each other, takes a minute and gigabytes.
 */
export function filesBelow(folder: string): string[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== "node_modules") return filesBelow(path) ?? [];
      return entry.isFile() ? [path] : [];
    });
  } catch {
    return undefined;
  }
}

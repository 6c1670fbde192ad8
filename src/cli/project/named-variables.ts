import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Files that may name a variable: scripts, their configuration, and what a build bundles. */
const NAMING = /\.(?:[cm]?[jt]sx?|json|html|mdx?|vue|svelte)$/;

/**
 * Returns whether a file of an application contains a text, such as the name of a variable: in `src/` or `dist/`, or directly in
 * its folder. `true` if there is neither of both folders, so that nothing can be known.
 */
export function isNamedInProject(folder: string, text: string): boolean {
  const sources = ["src", "dist"].map((name) => filesIn(join(folder, name), true));
  if (sources.every((files) => files === undefined)) return true;
  const files = [...sources.flatMap((each) => each ?? []), ...(filesIn(folder, false) ?? [])];
  return files.some((file) => contains(file, text));
}

/** Returns the files of a folder that may name a variable; `undefined` if it does not exist. */
function filesIn(folder: string, recursive: boolean): string[] | undefined {
  try {
    return readdirSync(folder, { recursive, withFileTypes: true })
      .filter((entry) => entry.isFile() && NAMING.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => !/[\\/]node_modules[\\/]/.test(file.slice(folder.length)));
  } catch {
    return undefined;
  }
}

function contains(file: string, text: string): boolean {
  try {
    return readFileSync(file, "utf8").includes(text);
  } catch {
    return true; // it cannot be read, so nothing is known
  }
}

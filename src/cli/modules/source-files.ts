import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { normalizePath } from "vite";

/** A file of the project, with forward slashes in its absolute path. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
}

const SCRIPT = /(?<!\.(?:test|spec|d))\.[jt]sx?$/;

/**
 * Returns the files below `src/` whose name matches; none if there is no such folder.
 *
 * @param name the names of the files. Default: scripts, without tests and declarations
 */
export async function readSourceFiles(root: string, name: RegExp = SCRIPT): Promise<SourceText[]> {
  const entries = await readdir(join(root, "src"), { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => normalizePath(join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes("/node_modules/"));
  // A file may have been deleted since.
  return Promise.all(files.map(async (file) => ({ file, text: await readFile(file, "utf8").catch(() => "") })));
}

/** Returns a text of the same length and lines in which blocks of comments and lines of comments are blank. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*.*?\*\/|^\s*\/\/[^\n]*/gms, (comment) => comment.replace(/[^\n]/g, " "));
}

/** Returns the line of an index of a text, from 1. */
export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

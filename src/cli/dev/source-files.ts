import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { normalizePath } from "vite";

/** A script of the project, with forward slashes in its absolute path. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
}

/** Returns the scripts below `src/`, without tests and declarations; none if there is no such folder. */
export async function readSourceFiles(root: string): Promise<SourceText[]> {
  const entries = await readdir(join(root, "src"), { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile() && /(?<!\.(?:test|spec|d))\.[jt]sx?$/.test(entry.name))
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

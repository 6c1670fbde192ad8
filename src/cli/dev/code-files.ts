import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Folders whose files the application does not import as its own code. */
const IGNORED: ReadonlySet<string> = new Set(["node_modules", "dist"]);

/** The files of an application's code: modules and files of variables. Data and logs, which it may write, are none. */
const CODE = /\.[cm]?[jt]sx?$|(?:^|\/)\.env(?:\.local)?$/;

/** How often files are compared, in milliseconds. */
const COMPARE_MS = 300;

/**
 * Calls a function once when a file of code in a project was created, changed or deleted after this call.
 *
 * Files are compared instead of watched: a watcher misses what happens before it has visited all folders.
 *
 * @param onEdit receives the path of the file, relative to the project's folder, with forward slashes
 * @param signal ends the wait
 */
export function waitForEdit(root: string, signal: AbortSignal, onEdit: (file: string) => void): void {
  const before = fileVersions(root);
  const timer = setInterval(() => {
    const now = fileVersions(root);
    const edited = [...now.keys(), ...before.keys()].find((file) => now.get(file) !== before.get(file));
    if (edited === undefined) return;
    clearInterval(timer);
    onEdit(edited);
  }, COMPARE_MS);
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}

/** Returns a text for each file of code that differs after an edit. */
function fileVersions(root: string): Map<string, string> {
  const versions = new Map<string, string>();
  for (const file of codeFiles(root)) {
    const stats = statSync(join(root, file), { throwIfNoEntry: false });
    if (stats) versions.set(file, `${stats.mtimeMs} ${stats.size}`);
  }
  return versions;
}

/** Returns the files of a project that the application may load as code, relative to its folder; none if it was deleted. */
export function codeFiles(root: string, folder = ""): string[] {
  return entriesOf(join(root, folder)).flatMap((entry) => {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (entry.isDirectory()) return isIgnored(entry.name) ? [] : codeFiles(root, path);
    return isCode(path) ? [path] : [];
  });
}

function entriesOf(dir: string): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return []; // deleted, or not readable
  }
}

/** Returns whether the application may load a file as code. `file` is relative to the project's folder. */
export function isCode(file: string): boolean {
  return CODE.test(file) && !file.split("/").slice(0, -1).some(isIgnored);
}

function isIgnored(folder: string): boolean {
  return IGNORED.has(folder) || folder.startsWith(".");
}

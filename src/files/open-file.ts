import { constants, type Stats } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { sep } from "node:path";

/** With `O_NONBLOCK`, which Windows lacks, opening a named pipe does not wait for a writer. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** An open file. The code that receives it closes the handle. */
export interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly stats: Stats;
}

/** The folder of the files. */
export interface ServedFolder {
  /** Its path without symbolic links. */
  readonly root: string;
  /** Returns whether a path below the folder, with a slash at its start, may be served. */
  readonly isServed: (path: string) => boolean;
}

/**
 * Opens a file before its headers are made: headers and body are then of one version, even if a deployment replaces
 * the file meanwhile.
 *
 * @returns `null` for a missing file, for anything but a regular file, and for a symbolic link that leads out of the
 *   folder or to a file that is not served
 */
export async function openFile(path: string, { root, isServed }: ServedFolder): Promise<OpenFile | null> {
  const handle = await open(path, OPEN_FLAGS).catch(() => null);
  if (!handle) return null;
  try {
    const stats = await handle.stat();
    const target = await realpath(path);
    if (stats.isFile() && target.startsWith(root + sep) && isServed(target.slice(root.length))) {
      return { path, handle, stats };
    }
  } catch {
    // It was deleted after it was opened.
  }
  await handle.close();
  return null;
}

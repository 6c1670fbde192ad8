import { statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** How long a file may be empty between the two steps of a write, in milliseconds. */
const WRITE_MS = 250;

/** How often an empty file is checked, in milliseconds. */
const CHECK_MS = 4;

/**
 * Waits until a file is written that is empty and was changed a moment ago; at most a quarter of a second. Most programs
 * truncate a file and write it then. On a busy machine they may be interrupted in between for longer than a request needs to
 * load the file.
 */
export async function untilWritten(file: string): Promise<void> {
  const endsAt = performance.now() + WRITE_MS;
  while (isBeingWritten(file) && performance.now() < endsAt) await wait(CHECK_MS);
}

function isBeingWritten(file: string): boolean {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size === 0 && Math.abs(Date.now() - stats.mtimeMs) < WRITE_MS;
  } catch {
    return false; // the caller reports a file that it cannot read
  }
}

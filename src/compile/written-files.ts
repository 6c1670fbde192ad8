import { type Stats, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

/** How long a file may be empty between the two steps of a write, in milliseconds: half a second was seen on a busy machine. */
const WRITE_MS = 2_000;

/** How often an empty file is checked, in milliseconds. */
const CHECK_MS = 4;

/**
 * Waits until a file is written that is empty and was changed a moment ago; at most two seconds. Most programs
 * truncate a file and write it then. On a busy machine they may be interrupted in between for longer than a request needs to
 * load the file.
 */
export async function untilWritten(file: string): Promise<void> {
  const endsAt = performance.now() + WRITE_MS;
  while (isBeingWritten(file) && performance.now() < endsAt) await wait(CHECK_MS);
}

/**
 * Returns the text of a file, after waiting as {@link untilWritten}. A file that is written several times in quick succession may
 * be empty again when it is read.
 *
 * @throws the error of `readFile`
 */
export async function readWritten(file: string): Promise<string> {
  const endsAt = performance.now() + WRITE_MS;
  let text = await readFile(file, "utf8");
  while (text === "" && statsIfRecent(file) && performance.now() < endsAt) {
    await wait(CHECK_MS);
    text = await readFile(file, "utf8");
  }
  return text || readFile(file, "utf8"); // this process may have been busy since the text was read
}

function isBeingWritten(file: string): boolean {
  return statsIfRecent(file)?.size === 0;
}

/** Returns the stats of a file that was changed a moment ago. */
function statsIfRecent(file: string): Stats | undefined {
  try {
    const stats = statSync(file);
    return stats.isFile() && Math.abs(Date.now() - stats.mtimeMs) < WRITE_MS ? stats : undefined;
  } catch {
    return undefined; // the caller reports a file that it cannot read
  }
}

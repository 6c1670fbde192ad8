import type { EventEmitter } from "node:events";
import { statSync } from "node:fs";

/** How long a file may be empty between the two steps of a write, in milliseconds. */
const EMPTY_MS = 25;

/**
 * Delays the events of a watcher for files that are empty. Most programs truncate a file and write it then. On a busy
 * machine they may be interrupted in between for longer than the watcher waits for the end of a write.
 *
 * An event is never dropped, and `all` is delayed if the event before it was: a listener of one must not miss what a
 * listener of the other has seen.
 */
export function holdBackEmptyFiles(watcher: EventEmitter): void {
  const emit = watcher.emit.bind(watcher);
  let isHeld = false;
  watcher.emit = (name, ...input) => {
    // chokidar emits `all` immediately after each event.
    if (name !== "all") isHeld = (name === "add" || name === "change") && isEmpty(input[0]);
    if (!isHeld) return emit(name, ...input);
    setTimeout(emit, EMPTY_MS, name, ...input).unref();
    return true;
  };
}

function isEmpty(file: unknown): boolean {
  return typeof file === "string" && statSync(file, { throwIfNoEntry: false })?.size === 0;
}

import type { EventEmitter } from "node:events";
import { statSync } from "node:fs";

/** How long a file may be empty between the two steps of a write, in milliseconds. */
const EMPTY_MS = 25;

/**
 * Delays the events of a watcher for files that are empty. Most programs truncate a file and write it then. On a busy
 * machine they may be interrupted in between for longer than the watcher waits for the end of a write.
 *
 * The event is dropped if the file has content by then, because the watcher reports that content too.
 */
export function holdBackEmptyFiles(watcher: EventEmitter): void {
  const emit = watcher.emit.bind(watcher);
  watcher.emit = (name, ...input) => {
    const [event, file] = name === "all" ? input : [name, ...input];
    if ((event !== "add" && event !== "change") || typeof file !== "string" || !isEmpty(file))
      return emit(name, ...input);
    setTimeout(() => isEmpty(file) && emit(name, ...input), EMPTY_MS).unref();
    return true;
  };
}

function isEmpty(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.size === 0;
}

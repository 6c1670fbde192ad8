import inspector from "node:inspector";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

/** How often this thread shows that its event loop runs, in milliseconds. */
const BEAT_MS = 500;

/** The data of the thread that watches this one. */
export interface WatchdogData {
  /** A number that changes as long as the event loop runs. */
  readonly beats: SharedArrayBuffer;
  readonly root: string;
  /** The id of the parent process. The thread may start after it was killed. */
  readonly parent: number;
}

/**
 * Watches the event loop of this thread from another thread, which reports to the parent process when it is blocked and
 * when it runs again. Does nothing while a debugger is attached: it blocks the event loop on purpose.
 *
 * @param root the application's folder
 */
export function watchEventLoop(root: string): void {
  if (inspector.url() !== undefined) return;
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const view = new Int32Array(beats);
  setInterval(() => Atomics.add(view, 0, 1), BEAT_MS).unref();
  const workerData: WatchdogData = { beats, root, parent: process.ppid };
  new Worker(fileURLToPath(new URL("./watchdog-worker.js", import.meta.url)), { workerData }).unref();
}

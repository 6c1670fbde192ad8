/**
 * Log lines on their way to standard output. Writing them never blocks, never throws and never ends the process: lines
 * that cannot be written wait in a buffer of limited size, and further ones are dropped and counted.
 *
 * Node's own ways do not guarantee that. `fs.write` occupies a thread on a pipe that is not read, and Node waits for
 * the thread at its exit. `process.stdout` throws, or has a buffer without a limit.
 *
 * `tsweb build` copies this file beside the built application, so it imports nothing but Node's own modules and another
 * copied file.
 */
import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { jsonLine } from "./json-line.ts";

/** The levels of `WEB_LOG_LEVEL`, lowest first. */
export const LOG_LEVELS = ["info", "warn", "error", "silent"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** How many bytes of lines wait at most. A longer line waits if it is the only one. */
const MAX_PENDING_BYTES = 1024 * 1024;

/** How long to wait before the next attempt on a pipe that is full. */
const FULL_PIPE_RETRY_MS = 10;

/** How long to wait before the next attempt after an error, for example on a full disk. */
const ERROR_RETRY_MS = 500;

/** How long the exit of the process waits for a pipe that is full. */
const MAX_EXIT_MS = 500;

const SLEEP_MS = 5;

/** Writes bytes, and returns how many of them were written. Throws if none was, with `EAGAIN` if a pipe is full. */
type WriteBytes = (bytes: Uint8Array) => number;

/** A queue of lines that are written in their order, each as soon as possible. */
export class LogOutput {
  readonly #writeBytes: WriteBytes;
  readonly #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  /** The number of lines that were dropped since the last report. As long as it is not 0, all lines are dropped. */
  #dropped = 0;
  /** The code of the error of the last attempt, `null` if nothing waits. */
  #failure: string | null = null;
  #nextAttemptAt = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor(writeBytes: WriteBytes) {
    this.#writeBytes = writeBytes;
  }

  /** The number of lines that were dropped since the start. */
  droppedInTotal = 0;

  /** Writes a line, which ends with a line break, or queues or drops it. Never throws. */
  write(line: string): void {
    // A timer cannot fire during a long burst of lines.
    if (this.#failure !== null && performance.now() >= this.#nextAttemptAt) this.#writePending();
    const bytes = Buffer.from(line);
    const isTooMuch = this.#pendingBytes > 0 && this.#pendingBytes + bytes.length > MAX_PENDING_BYTES;
    if (this.#dropped > 0 || isTooMuch) {
      this.#dropped++;
      this.droppedInTotal++;
      return;
    }
    this.#append(bytes);
    if (this.#failure === null) this.#writePending();
  }

  /**
   * Writes the waiting lines before the process exits. Waits for a pipe that is being read, but never longer than the
   * time limit, and not at all after any other error.
   */
  flush(maxMs = MAX_EXIT_MS): void {
    const end = performance.now() + maxMs;
    this.#writePending();
    while (this.#failure === "EAGAIN" && performance.now() < end) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SLEEP_MS);
      this.#writePending();
    }
  }

  #append(bytes: Uint8Array): void {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
  }

  #writePending(): void {
    clearTimeout(this.#retry);
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) {
        const written = this.#writeBytes(next);
        this.#pendingBytes -= written;
        if (written === next.length) this.#pending.shift();
        else this.#pending[0] = next.subarray(written);
      }
      this.#failure = null;
    } catch (error) {
      this.#retryAfter(error);
    }
  }

  /** Returns the next line: after the last one that was queued before others were dropped, the report about those. */
  #next(): Uint8Array | undefined {
    if (this.#pending.length === 0 && this.#dropped > 0) {
      const dropped = this.#dropped;
      this.#dropped = 0;
      this.#append(Buffer.from(dropReport(dropped, this.#failure)));
    }
    return this.#pending[0];
  }

  #retryAfter(error: unknown): void {
    this.#failure = String(error instanceof Error && "code" in error ? error.code : error);
    const delayMs = this.#failure === "EAGAIN" ? FULL_PIPE_RETRY_MS : ERROR_RETRY_MS;
    this.#nextAttemptAt = performance.now() + delayMs;
    this.#retry = setTimeout(() => this.#writePending(), delayMs).unref();
  }
}

function dropReport(dropped: number, failure: string | null): string {
  const lines = dropped === 1 ? "1 log line was dropped" : `${dropped} log lines were dropped`;
  const reason = failure === "EAGAIN" ? "its reader was too slow" : `the error was ${failure}`;
  return jsonLine("warn", { dropped }, `${lines}: standard output could not be written, ${reason}.`);
}

/** Standard output exists once in a process, and so does the queue of its lines. */
let standardOutput: LogOutput | undefined;

/** Returns how many lines could not be written to standard output since the start of the process. */
export function droppedLogLines(): number {
  return standardOutput?.droppedInTotal ?? 0;
}

/** Writes a line, with its line break, to standard output. Never throws and never blocks, see {@link LogOutput}. */
export function writeLogLine(line: string): void {
  standardOutput ??= openStandardOutput();
  standardOutput.write(line);
}

/**
 * Writes an event as one line of JSON to standard output, as {@link writeLogLine} does, unless `WEB_LOG_LEVEL` is higher.
 * For processes without an application: an invalid level, which an application would report, counts as none.
 */
export function logEvent(level: "info" | "error", fields: object, message: string): void {
  const lowest = (LOG_LEVELS as readonly unknown[]).indexOf(process.env.WEB_LOG_LEVEL); // any text can be searched for
  if (LOG_LEVELS.indexOf(level) >= lowest) writeLogLine(jsonLine(level, fields, message));
}

const STDOUT = 1;

function openStandardOutput(): LogOutput {
  const output = new LogOutput(standardOutputWriter());
  process.once("exit", () => output.flush());
  return output;
}

/**
 * Returns a function that writes to standard output without blocking.
 *
 * - A file is written directly. A full disk is an error that is returned at once.
 * - A pipe or a terminal is opened once more. Whether it blocks is a property of the open file, which this process
 *   shares with others: Node resets it when it starts a child process, and when it exits.
 * - A socket cannot be opened again, as under systemd. It is set to non-blocking before each write.
 */
function standardOutputWriter(): WriteBytes {
  const stats = fstatSync(STDOUT);
  const toStandardOutput: WriteBytes = (bytes) => writeSync(STDOUT, bytes);
  if (stats.isFile()) return toStandardOutput;
  const ownDescriptor = stats.isSocket() ? null : reopenWithoutBlocking();
  if (ownDescriptor !== null) return (bytes) => writeSync(ownDescriptor, bytes);
  // Node has no public function for this. Runtimes without the method get the state that the first use of the stream sets.
  const { _handle: handle } = process.stdout as { readonly _handle?: { setBlocking?(isBlocking: boolean): void } };
  return (bytes) => {
    handle?.setBlocking?.(false);
    return toStandardOutput(bytes);
  };
}

/** Opens standard output once more. Returns `null` where that is impossible: without `/proc`, or as another user. */
function reopenWithoutBlocking(): number | null {
  try {
    return openSync(`/proc/self/fd/${STDOUT}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return null; // the caller has another way
  }
}

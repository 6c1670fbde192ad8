/**
 * A pool of processes that serve one application, and their supervisor. `tsweb build` copies this file beside the
 * built application, so it imports nothing but Node's own modules.
 */
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";

/** A process that ends sooner than this after its start is restarted with a pause. */
const STABLE_MS = 10_000;

/** The longest pause before a restart. */
const MAX_PAUSE_MS = 30_000;

/** The message that makes a worker stop. */
export const STOP_MESSAGE = "tsweb:stop";

/** Writes an event to the log of the supervisor. */
export type LogEvent = (level: "info" | "error", fields: object, message: string) => void;

/** Returns whether this process is the supervisor of several workers. */
export function isSupervisor(workers: number): boolean {
  return workers > 1 && cluster.isPrimary;
}

/**
 * Runs this program in several processes, which share its port, and restarts a process that ends unexpectedly. The
 * others start only after the first one listens: an error that prevents that is printed once, and the program exits
 * with status 1.
 *
 * `SIGTERM` and `SIGINT` stop all processes, each after its requests in flight. A second signal kills them.
 */
export async function supervise(workers: number, log: LogEvent): Promise<void> {
  // Each process accepts connections by itself. With round-robin, the default, a connection that was on its way to a
  // process that has just been killed would be lost, and its client would wait for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const pool = new WorkerPool(log);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => pool.stop(signal));
  if (!(await pool.startFirst())) process.exit(1);
  for (let n = 1; n < workers; n++) pool.start();
}

class WorkerPool {
  readonly #workers = new Set<Worker>();
  readonly #listening = new WeakSet<Worker>();
  readonly #log: LogEvent;
  #isStopping = false;
  /** How many processes in a row have ended before {@link STABLE_MS}. */
  #failures = 0;

  constructor(log: LogEvent) {
    this.#log = log;
  }

  /** Starts the first process. Resolves with whether it listens; if so, it is restarted whenever it ends. */
  async startFirst(): Promise<boolean> {
    const worker = this.#fork();
    const startedAt = performance.now();
    const exited = once(worker, "exit");
    const isListening = await Promise.race([once(worker, "listening").then(() => true), exited.then(() => false)]);
    if (isListening) void exited.then(() => this.#restart(worker, startedAt));
    return isListening;
  }

  /** Starts a process, and restarts it whenever it ends. */
  start(): void {
    if (this.#isStopping) return;
    const worker = this.#fork();
    const startedAt = performance.now();
    worker.once("exit", () => this.#restart(worker, startedAt));
  }

  /** Stops all processes; the second time, kills them. */
  stop(signal: string): void {
    if (this.#isStopping) {
      for (const worker of this.#workers) worker.process.kill("SIGKILL");
      process.exit(1);
    }
    this.#isStopping = true;
    this.#log("info", { signal, processes: this.#workers.size }, "Stopping all processes");
    for (const worker of this.#workers) {
      // A message instead of a signal, because a signal to the process group has reached the workers already.
      if (this.#listening.has(worker))
        worker.send(STOP_MESSAGE, () => undefined); // it may have ended by itself
      else worker.process.kill("SIGTERM"); // it may not have a listener for messages yet
    }
    this.#exitAfterLast();
  }

  #fork(): Worker {
    const worker = cluster.fork();
    this.#workers.add(worker);
    worker.once("listening", () => this.#listening.add(worker));
    worker.once("exit", () => {
      this.#workers.delete(worker);
      this.#exitAfterLast();
    });
    return worker;
  }

  #exitAfterLast(): void {
    if (this.#isStopping && this.#workers.size === 0) process.exit(0);
  }

  #restart({ process: { pid, exitCode, signalCode } }: Worker, startedAt: number): void {
    if (this.#isStopping) return;
    this.#failures = performance.now() - startedAt < STABLE_MS ? this.#failures + 1 : 0;
    const pauseMs = this.#failures === 0 ? 0 : Math.min(MAX_PAUSE_MS, 2 ** this.#failures * 125);
    this.#log("error", { pid, exitCode, signalCode }, `A process has ended; restarting in ${pauseMs} ms`);
    setTimeout(() => {
      if (!this.#isStopping) this.start();
    }, pauseMs);
  }
}

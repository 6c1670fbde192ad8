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

/** The type of the message that makes a worker stop. */
const STOP = "tsweb:stop";

/** Returns the signal for which the supervisor stops a worker by a message; `undefined` for any other message. */
export function stopSignalOf(message: unknown): string | undefined {
  const { type, signal } = Object(message) as { readonly type?: unknown; readonly signal?: unknown }; // any value can be read like this
  return type === STOP && typeof signal === "string" ? signal : undefined;
}

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
 * `SIGTERM` and `SIGINT` stop all processes, each after its requests in flight. A second signal kills them. The exit code is
 * 1 if one of them had to cut off requests.
 *
 * `SIGHUP` restarts all processes one after another: each stops only after a new one listens. If that one does not start,
 * the old one goes on, and so do those that were not restarted yet.
 */
export async function supervise(workers: number, log: LogEvent): Promise<void> {
  // Each process accepts connections by itself. With round-robin, the default, a connection that was on its way to a
  // process that has just been killed would be lost, and its client would wait for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const pool = new WorkerPool(log);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => pool.stop(signal));
  // Without a listener, the signal would end the process.
  process.on("SIGHUP", () => void pool.restart());
  if (!(await pool.startFirst())) process.exit(1);
  for (let n = 1; n < workers; n++) pool.start();
}

class WorkerPool {
  readonly #workers = new Set<Worker>();
  readonly #listening = new WeakSet<Worker>();
  /** The processes that are not restarted when they end, because another one takes their place. */
  readonly #replaced = new WeakSet<Worker>();
  readonly #log: LogEvent;
  #isStopping = false;
  #isRestarting = false;
  /** Whether a restart was requested during the current one. */
  #isRestartRequested = false;
  /** How many processes in a row have ended before {@link STABLE_MS}. */
  #failures = 0;
  /** The exit code of the supervisor: 1 if a process could not stop without cutting off requests. */
  #exitCode = 0;

  constructor(log: LogEvent) {
    this.#log = log;
  }

  /** Starts a process, and restarts it whenever it ends after it has listened. Resolves with whether it listens. */
  async startFirst(): Promise<boolean> {
    const worker = this.#fork();
    const startedAt = performance.now();
    const isListening = await listens(worker);
    if (isListening) this.#restartAfterExit(worker, startedAt);
    return isListening;
  }

  /** Starts a process, and restarts it whenever it ends. */
  start(): void {
    if (!this.#isStopping) this.#restartAfterExit(this.#fork(), performance.now());
  }

  /** Replaces all processes, one after another. A request during a restart replaces them once more after it. */
  async restart(): Promise<void> {
    this.#isRestartRequested = true;
    if (this.#isRestarting) return;
    this.#isRestarting = true;
    while (this.#isRestartRequested && !this.#isStopping) {
      this.#isRestartRequested = false;
      await this.#replaceAll();
    }
    this.#isRestarting = false;
  }

  /** Stops all processes; the second time, kills them. */
  stop(signal: string): void {
    if (this.#isStopping) {
      const message = "Killing the remaining processes, because of a second signal: their requests are cut off";
      this.#log("error", { signal, processes: this.#workers.size }, message);
      for (const worker of this.#workers) worker.process.kill("SIGKILL");
      process.exit(1);
    }
    this.#isStopping = true;
    this.#log("info", { signal, processes: this.#workers.size }, "Stopping all processes");
    for (const worker of this.#workers) this.#stopWorker(worker, signal);
    this.#exitAfterLast();
  }

  async #replaceAll(): Promise<void> {
    const workers = [...this.#workers];
    this.#log("info", { processes: workers.length }, "Restarting all processes, one after another");
    for (const worker of workers) {
      if (this.#isStopping) return;
      if (!(await this.#replace(worker))) return;
    }
    if (!this.#isStopping) this.#log("info", { processes: workers.length }, "All processes were restarted");
  }

  /** Stops a process after another one listens in its place. @returns whether that one has started */
  async #replace(worker: Worker): Promise<boolean> {
    if (!this.#workers.has(worker)) return true; // it has ended, and was restarted
    const { pid } = worker.process;
    const exited = once(worker, "exit");
    this.#replaced.add(worker);
    const startedAt = performance.now();
    const successor = this.#fork();
    if (!(await listens(successor))) {
      const { pid: successorPid, exitCode, signalCode } = successor.process;
      this.#replaced.delete(worker);
      if (!this.#workers.has(worker)) this.start(); // it has ended meanwhile
      if (this.#isStopping) return false;
      const message = "The new process did not start. The restart has ended, and the other processes go on";
      this.#log("error", { worker: successorPid, exitCode, signalCode }, message);
      return false;
    }
    this.#restartAfterExit(successor, startedAt);
    if (this.#workers.has(worker)) {
      this.#log(
        "info",
        { worker: pid, successor: successor.process.pid },
        "Stopping a process, because its successor is ready",
      );
      this.#stopWorker(worker, "SIGHUP");
      await exited;
    }
    return true;
  }

  /** @param signal the one that the supervisor has received */
  #stopWorker(worker: Worker, signal: string): void {
    // A message instead of a signal, because a signal to the process group has reached the workers already.
    if (this.#listening.has(worker))
      worker.send({ type: STOP, signal }, () => undefined); // it may have ended by itself
    else worker.process.kill("SIGTERM"); // it may not have a listener for messages yet
  }

  #fork(): Worker {
    const worker = cluster.fork();
    this.#workers.add(worker);
    worker.once("listening", () => this.#listening.add(worker));
    worker.once("exit", (code: number | null, signal: string | null) => {
      this.#workers.delete(worker);
      if (this.#isStopping && code !== 0 && signal !== "SIGTERM") this.#exitCode = 1;
      this.#exitAfterLast();
    });
    return worker;
  }

  #exitAfterLast(): void {
    if (!this.#isStopping || this.#workers.size > 0) return;
    this.#log("info", { status: this.#exitCode }, "All processes have stopped");
    process.exit(this.#exitCode);
  }

  #restartAfterExit(worker: Worker, startedAt: number): void {
    if (worker.isDead()) this.#restart(worker, startedAt);
    else worker.once("exit", () => this.#restart(worker, startedAt));
  }

  #restart(worker: Worker, startedAt: number): void {
    if (this.#isStopping || this.#replaced.has(worker)) return;
    const { pid, exitCode, signalCode } = worker.process;
    this.#failures = performance.now() - startedAt < STABLE_MS ? this.#failures + 1 : 0;
    const pauseMs = this.#failures === 0 ? 0 : Math.min(MAX_PAUSE_MS, 2 ** this.#failures * 125);
    this.#log("error", { worker: pid, exitCode, signalCode }, `A process has ended; restarting in ${pauseMs} ms`);
    setTimeout(() => this.start(), pauseMs);
  }
}

/** Resolves with whether a process listens; if not, it has ended. */
function listens(worker: Worker): Promise<boolean> {
  return Promise.race([once(worker, "listening").then(() => true), once(worker, "exit").then(() => false)]);
}

/**
 * Several processes that serve one application, and the one that looks after them. This file stands
 * beside a built application as it is, so it needs nothing but Node.
 */
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";

/** A process that lived shorter than this before it ended is not started again at once. */
const STEADY_MS = 10_000;

/** The longest pause before a process that keeps ending is started again. */
const MAX_PAUSE_MS = 30_000;

/** What a worker is told when it is to stop. */
export const STOP = "tsweb:stop";

/** Whether this process is the one that looks after others. */
export function isSupervisor(workers: number): boolean {
  return workers > 1 && cluster.isPrimary;
}

/**
 * Runs this program in so many processes, which share its port, and starts those anew that end without
 * being told to. The first has to listen before the others are started: what keeps it from that is
 * said once, and ends the program with 1.
 *
 * `SIGTERM` and `SIGINT` stop all of them, each once its calls in flight have ended; a second signal
 * ends them there and then.
 */
export async function supervise(workers: number): Promise<void> {
  // Each accepts by itself. Handed out one by one, as is the default, a connection that was on its way to a
  // process that was killed would be nobody's, and its client would wait for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const crew = new Crew();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => crew.stop(signal));
  if (!(await crew.start())) process.exit(1);
  for (let n = 1; n < workers; n++) crew.keep();
}

class Crew {
  readonly #living = new Set<Worker>();
  #isStopping = false;
  /** How many have ended one after another without having lived. */
  #failures = 0;

  /** Starts the first process, and keeps it running if it came to listen. @returns whether it did */
  async start(): Promise<boolean> {
    const worker = this.#fork();
    const startedAt = performance.now();
    const ended = once(worker, "exit");
    const isListening = await Promise.race([once(worker, "listening").then(() => true), ended.then(() => false)]);
    if (isListening) void ended.then(() => this.#replace(worker, startedAt));
    return isListening;
  }

  /** Starts a process, and another in its place whenever it ends. */
  keep(): void {
    const worker = this.#fork();
    const startedAt = performance.now();
    worker.once("exit", () => this.#replace(worker, startedAt));
  }

  /** Stops all; told a second time, there and then. */
  stop(signal: string): void {
    if (this.#isStopping) {
      for (const worker of this.#living) worker.process.kill("SIGKILL");
      process.exit(1);
    }
    this.#isStopping = true;
    tell("info", { signal, processes: this.#living.size }, "Stopping all processes");
    // A message rather than a signal: whoever stops us may have sent them one already.
    for (const worker of this.#living) worker.send(STOP, () => undefined); // it may be ending by itself
    this.#exitIfLast();
  }

  #fork(): Worker {
    const worker = cluster.fork();
    this.#living.add(worker);
    worker.once("exit", () => {
      this.#living.delete(worker);
      this.#exitIfLast();
    });
    return worker;
  }

  #exitIfLast(): void {
    if (this.#isStopping && this.#living.size === 0) process.exit(0);
  }

  #replace({ process: { pid, exitCode, signalCode } }: Worker, startedAt: number): void {
    if (this.#isStopping) return;
    this.#failures = performance.now() - startedAt < STEADY_MS ? this.#failures + 1 : 0;
    const pauseMs = this.#failures === 0 ? 0 : Math.min(MAX_PAUSE_MS, 2 ** this.#failures * 125);
    tell("error", { pid, exitCode, signalCode }, `A process has ended; another starts in ${pauseMs} ms`);
    setTimeout(() => {
      if (!this.#isStopping) this.keep();
    }, pauseMs);
  }
}

function tell(level: "info" | "error", fields: object, message: string): void {
  console.log(JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg: message }));
}

/**
 * Several processes that serve one application, and the one that looks after them. This file stands
 * beside a built application as it is, so it needs nothing but Node.
 */
import cluster, { type Worker } from "node:cluster";

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
  const crew = new Crew();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => crew.stop(signal));
  if (!(await crew.start())) process.exit(1);
  for (let n = 1; n < workers; n++) void crew.start();
}

class Crew {
  #isStopping = false;
  /** How many have ended one after another without having lived. */
  #failures = 0;

  /** Starts a process. @returns whether it came to listen */
  start(): Promise<boolean> {
    const worker = cluster.fork();
    const startedAt = performance.now();
    return new Promise((resolve) => {
      let isListening = false;
      worker.once("listening", () => {
        isListening = true;
        resolve(true);
      });
      worker.once("exit", (code, signal) => {
        resolve(isListening);
        this.#ended(worker, { code, signal, livedMs: performance.now() - startedAt, isListening });
      });
    });
  }

  stop(signal: string): void {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    if (this.#isStopping) {
      for (const worker of workers) worker.process.kill("SIGKILL");
      process.exit(1);
    }
    this.#isStopping = true;
    tell("info", { signal, workers: workers.length }, "Stopping all processes");
    // A message rather than a signal: those who stop us may have sent them one already.
    for (const worker of workers) worker.send(STOP, () => undefined);
    if (workers.length === 0) process.exit(0);
  }

  #ended(worker: Worker, end: { code: number; signal: string; livedMs: number; isListening: boolean }): void {
    if (this.#isStopping) {
      if (Object.keys(cluster.workers ?? {}).length === 0) process.exit(0);
      return;
    }
    if (!end.isListening && this.#isAlone) return; // the first: supervise() ends with it
    this.#failures = end.livedMs < STEADY_MS ? this.#failures + 1 : 0;
    const pauseMs = this.#failures === 0 ? 0 : Math.min(MAX_PAUSE_MS, 2 ** this.#failures * 250);
    const { pid } = worker.process;
    tell("error", { pid, code: end.code, signal: end.signal }, `A process has ended; another starts in ${pauseMs} ms`);
    setTimeout(() => {
      if (!this.#isStopping) void this.start();
    }, pauseMs);
  }

  get #isAlone(): boolean {
    return Object.keys(cluster.workers ?? {}).length === 0;
  }
}

function tell(level: "info" | "error", fields: object, message: string): void {
  console.log(JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg: message }));
}

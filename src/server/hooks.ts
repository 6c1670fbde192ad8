import type { Logger } from "../logging/index.ts";

/** How long `on_start` may run until that is logged, in milliseconds. Nothing is served meanwhile. */
const SLOW_START_MS = 10_000;

/**
 * Returns a function that runs `on_start` once, however often it is called, and resolves when it has ended. After a failure,
 * the next call runs it again.
 *
 * @throws (rejects) Error with the error of `on_start` as its cause
 */
export function createStartHook(onStart: (() => unknown) | undefined, log: Logger): () => Promise<void> {
  let running: Promise<void> | undefined;
  const run = async () => {
    const slow = setTimeout(() => log.warn({ seconds: SLOW_START_MS / 1000 }, SLOW_START), SLOW_START_MS);
    try {
      await onStart?.();
    } catch (cause) {
      throw new Error("on_start of new App failed, so that the application does not start.", { cause });
    } finally {
      clearTimeout(slow);
    }
  };
  return () => {
    running ??= run().catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return running;
  };
}

const SLOW_START =
  "on_start of new App has not ended yet. No request is served until it has. Do not await work that runs for as long as the " +
  "application, such as a loop";

/** How long an application waits for what it has to complete before the process ends. */
const STOP_TIMEOUT_MS = 2_000;

/** What an application has to complete before the process ends. */
export interface LastWork {
  /** The subject of the log line if it fails: `on_stop of new App`. */
  readonly name: string;
  readonly run: () => unknown;
}

/**
 * Runs the last work of an application, step by step, for at most two seconds in all. Never rejects: what fails, or takes
 * longer, is logged.
 *
 * @param steps what is done one after the other; the work of one step runs at the same time
 */
export async function runLastWork(steps: readonly (readonly LastWork[])[], log: Logger): Promise<void> {
  const running = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STOP_TIMEOUT_MS);
  });
  const runWork = async ({ name, run }: LastWork) => {
    running.add(name);
    try {
      await run();
    } catch (err) {
      log.error({ err }, `${name} failed`);
    }
    running.delete(name);
  };
  for (const step of steps) {
    const done = Promise.all(step.map(runWork)).then(() => true);
    if (!(await Promise.race([done, timeout]))) break;
  }
  clearTimeout(timer);
  for (const name of running) {
    log.warn(
      { seconds: STOP_TIMEOUT_MS / 1000 },
      `${name} has not ended in time. The application does not wait for it`,
    );
  }
}

import type { Logger } from "../logging/index.ts";

/** How long an application waits for what it has to complete before the process ends. */
const STOP_TIMEOUT_MS = 2_000;

/** A part of what an application does before the process ends. */
export interface LastWork {
  /** Its name, for the log. */
  readonly name: string;
  readonly run: () => unknown;
}

/**
 * Runs the last work of an application, step by step, for at most two seconds in all. Never rejects: what fails, or takes
 * longer, is logged.
 *
 * @param steps what is done one after the other; the work of a step runs at the same time
 */
export async function runLastWork(steps: readonly (readonly LastWork[])[], log: Logger): Promise<void> {
  const running = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STOP_TIMEOUT_MS);
  });
  const runOne = async ({ name, run }: LastWork) => {
    running.add(name);
    try {
      await run();
    } catch (err) {
      log.error({ err }, `${name} failed`);
    }
    running.delete(name);
  };
  for (const step of steps) {
    const done = Promise.all(step.map(runOne)).then(() => true);
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

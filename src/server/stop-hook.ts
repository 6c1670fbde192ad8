import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "../logging/index.ts";

/** How long an application waits for what it has to complete before the process ends. */
const STOP_TIMEOUT_MS = 2_000;

/**
 * Runs the last work of an application, for at most two seconds. Never rejects: what fails, or takes longer, is logged.
 *
 * @param work the work by its name, for the log
 */
export async function runLastWork(
  work: Readonly<Record<string, (() => unknown) | undefined>>,
  log: Logger,
): Promise<void> {
  const stop = new AbortController();
  const timeout = pause(STOP_TIMEOUT_MS, undefined, { signal: stop.signal }).catch(() => undefined);
  const runs = Object.entries(work).map(async ([name, run]) => {
    let hasEnded = false;
    void timeout.then(() => {
      if (hasEnded) return;
      log.warn(
        { seconds: STOP_TIMEOUT_MS / 1000 },
        `${name} has not ended in time. The application does not wait for it`,
      );
    });
    try {
      await run?.();
    } catch (err) {
      log.error({ err }, `${name} failed`);
    }
    hasEnded = true;
  });
  await Promise.race([Promise.all(runs), timeout]);
  stop.abort();
}

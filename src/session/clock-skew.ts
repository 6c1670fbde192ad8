import type { Logger } from "../logging/index.ts";

/** The maximum by which the clock of another server may be ahead, in seconds. @see docs/protocol.md 7.4 */
export const CLOCK_SKEW_SECONDS = 60;

/** The minimum interval between two log lines. */
const LOG_INTERVAL_MS = 60_000;

/** Logs that sessions are refused because the clocks of the servers differ: at most once a minute. */
export class ClockSkewLog {
  readonly #log: Logger;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Records a session that is refused because it was issued in the future.
   *
   * @param seconds by how much, according to the clock of this server
   */
  report(seconds: number): void {
    const now = performance.now();
    if (now - this.#loggedAtMs < LOG_INTERVAL_MS) return;
    this.#loggedAtMs = now;
    const difference = Math.round(seconds);
    this.#log.warn(
      { seconds: difference },
      `The clocks of the servers differ: a session was issued ${difference} s in the future, and is refused until then. ` +
        `At most ${CLOCK_SKEW_SECONDS} s are accepted. Synchronize the clocks, for example with chrony or ` +
        "systemd-timesyncd",
    );
  }
}

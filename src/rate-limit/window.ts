/** The number of calls that a client may make in a span of time. */
export interface Rate {
  readonly calls: number;
  /** The span, in seconds. */
  readonly seconds: number;
}

/** The calls of one client at one moment. */
export interface WindowCounts {
  /** The accepted calls in the previous window. */
  readonly previous: number;
  /** The accepted calls in the current window so far. */
  readonly current: number;
  /** The part of the current window that has passed, from 0 to 1. */
  readonly elapsed: number;
}

/**
 * Returns how long a client has to wait for its next call, in seconds. 0 means that it may call now.
 *
 * This is a sliding window counter: the calls of the previous window count by the share of that window
 * which lies within one span of now, as if they had been spread evenly. A client that waits for the
 * returned time is accepted then, and not one second earlier.
 *
 * @see docs/protocol.md 9.2
 */
export function retryAfterSeconds({ previous, current, elapsed }: WindowCounts, { calls, seconds }: Rate): number {
  if (previous * (1 - elapsed) + current + 1 <= calls) return 0;
  const remaining = calls - 1 - current;
  // Within this window, when enough of the previous one has slid out …
  if (remaining >= 0) return seconds * (1 - remaining / previous - elapsed);
  // … otherwise in the next window, whose previous window is this one.
  return seconds * (1 - elapsed + 1 - (calls - 1) / current);
}

/**
 * Returns the `rate` option of `new App` after checking it.
 *
 * @throws RangeError if `calls` or `seconds` is not a number in its range
 */
export function validateRate(rate: Rate): Rate {
  const { calls, seconds } = rate;
  if (!Number.isSafeInteger(calls) || calls < 1)
    throw new RangeError(`Invalid option rate.calls in new App: ${calls}. Use a whole number from 1.`);
  if (!Number.isFinite(seconds) || seconds < 1)
    throw new RangeError(`Invalid option rate.seconds in new App: ${seconds}. Use a number from 1.`);
  return rate;
}

/** How many calls a client may make in a span of time. */
export interface Rate {
  readonly calls: number;
  /** The span, in seconds. */
  readonly seconds: number;
}

/** What is known of a client at one moment. */
export interface WindowCounts {
  /** Calls in the window before this one. */
  readonly previous: number;
  /** Calls in this window so far. */
  readonly current: number;
  /** How much of this window has passed, from 0 to 1. */
  readonly elapsed: number;
}

/**
 * Gives how long a client has to wait for its next call, in seconds; `0` when it may call now.
 *
 * The window slides: of the window before this one counts the share that still lies within one
 * span of now, as if its calls had been spread evenly. A client that waits as long as it is told
 * is let through then, and is not a second earlier.
 */
export function retryAfterSeconds({ previous, current, elapsed }: WindowCounts, { calls, seconds }: Rate): number {
  if (previous * (1 - elapsed) + current + 1 <= calls) return 0;
  const room = calls - 1 - current;
  // Within this window, once enough of the one before has slid out …
  if (room >= 0) return seconds * (1 - room / previous - elapsed);
  // … else in the next one, of which this one will be the window before.
  return seconds * (1 - elapsed + 1 - (calls - 1) / current);
}

/**
 * Checks a rate as it was given.
 *
 * @throws RangeError that says what is wrong
 */
export function validateRate(rate: Rate): Rate {
  const { calls, seconds } = rate;
  if (!Number.isSafeInteger(calls) || calls < 1)
    throw new RangeError(`rate: calls is a whole number from 1, not ${calls}.`);
  if (!Number.isFinite(seconds) || seconds < 1)
    throw new RangeError(`rate: seconds is a number from 1, not ${seconds}.`);
  return rate;
}

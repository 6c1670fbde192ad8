const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 2_000;

/**
 * Returns how long to wait before the next attempt to reconnect to Redis or NATS, in milliseconds.
 *
 * The upper bound starts at 50 ms, doubles with each attempt and stops at 2 s. The delay is random
 * between half of the bound and the bound ("equal jitter"), so that the processes of an application do
 * not all reconnect in the same moment.
 *
 * @param attempt 1 for the first attempt after the connection was lost
 * @param random from 0 (inclusive) to 1; replaced in tests
 */
export function backoffMs(attempt: number, random: number = Math.random()): number {
  const bound = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  return Math.round(bound * (0.5 + random / 2));
}

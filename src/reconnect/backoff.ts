const FIRST_MS = 50;
const LONGEST_MS = 2_000;

/**
 * Gives how long to wait before a connection is tried again: twice as long each time, up to two
 * seconds, of which the half is left to chance. When a Redis comes back, not all processes shall
 * knock at once.
 *
 * @param attempt 1 for the first one after a loss
 * @param random from 0 to 1
 * @returns milliseconds
 */
export function backoffMs(attempt: number, random: number = Math.random()): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1));
  return Math.round(longest * (0.5 + random / 2));
}

import { randomBytes } from "node:crypto";

/** Nine base-36 digits hold a time in milliseconds until the year 5188. Because of the fixed width, ids compare as texts. */
const TIME_DIGITS = 9;
const RANDOM_DIGITS = 4;

/**
 * Returns the id of a new build: 13 base-36 digits, nine for the time and four random ones. A later build has a greater id.
 *
 * @param previous the id of an earlier build that is known. The new id is greater, even if the clock of the machine that made
 *   the earlier build is ahead
 */
export function createBuildId(previous = "", nowMs: number = Date.now()): string {
  const time = Math.max(nowMs, buildTimeMs(previous) + 1);
  const random = randomBytes(4).readUInt32BE() % 36 ** RANDOM_DIGITS;
  return toDigits(time, TIME_DIGITS) + toDigits(random, RANDOM_DIGITS);
}

/** Returns when a build was made, in milliseconds since the Unix epoch; 0 for a text that is no id. */
export function buildTimeMs(id: string): number {
  return Number.parseInt(id.slice(0, TIME_DIGITS), 36) || 0;
}

function toDigits(value: number, width: number): string {
  return value.toString(36).padStart(width, "0");
}

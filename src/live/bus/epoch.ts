import { randomBytes } from "node:crypto";

/** Digits of base 36 that hold 100 million million: a time in milliseconds until the year 5188. */
const WIDTH = 9;

/**
 * Names a history that begins now: 13 characters, of which the first ones are the time, so that
 * positions of a later history compare as later; the rest is chance.
 */
export function createEpoch(nowMs: number = Date.now()): string {
  const chance = randomBytes(4).readUInt32BE() % 36 ** 4;
  return formatBase36(nowMs) + chance.toString(36).padStart(4, "0");
}

/** Writes a whole number below 36^9 with 9 digits of base 36: of two, the greater is the later text. */
export function formatBase36(value: number): string {
  return value.toString(36).padStart(WIDTH, "0");
}

/** Reads what {@link formatBase36} wrote; undefined for anything else. */
export function parseBase36(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9a-z]{9}$/.test(text) ? Number.parseInt(text, 36) : undefined;
}

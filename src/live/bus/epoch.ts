import { randomBytes } from "node:crypto";

/** Base 36 digits that hold a time in milliseconds until the year 5188. */
const TIME_DIGITS = 9;

/** Base 36 digits that hold every safe integer. */
const NUMBER_DIGITS = 11;

/**
 * Names a history that begins now: 13 characters, of which the first ones are the time, so that
 * positions of a later history compare as later; the rest is chance.
 */
export function newEpoch(nowMs: number = Date.now()): string {
  const chance = randomBytes(4).readUInt32BE() % 36 ** 4;
  return timeDigits(nowMs) + chance.toString(36).padStart(4, "0");
}

/** Writes a time in milliseconds, or any whole number up to 36^9, with 9 digits of base 36. */
export function timeDigits(ms: number): string {
  return Math.floor(ms).toString(36).padStart(TIME_DIGITS, "0");
}

/** Writes a whole number with 11 digits of base 36: of two, the greater one is the later text. */
export function numberDigits(value: number): string {
  return value.toString(36).padStart(NUMBER_DIGITS, "0");
}

/** Reads what {@link timeDigits} wrote; undefined for anything else. */
export function readTime(text: string | undefined): number | undefined {
  return readDigits(text, TIME_DIGITS);
}

/** Reads what {@link numberDigits} wrote; undefined for anything else. */
export function readNumber(text: string | undefined): number | undefined {
  return readDigits(text, NUMBER_DIGITS);
}

function readDigits(text: string | undefined, digits: number): number | undefined {
  if (text?.length !== digits || !/^[0-9a-z]+$/.test(text)) return undefined;
  const value = Number.parseInt(text, 36);
  return Number.isSafeInteger(value) ? value : undefined;
}

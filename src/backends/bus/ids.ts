import { randomBytes } from "node:crypto";

/**
 * Returns an identifier for a history that starts now: 13 base-36 digits, nine for the time and four
 * random ones. The positions of a later history compare as later, because an epoch is their prefix.
 *
 * @param nowMs milliseconds since the Unix epoch
 */
export function createEpoch(nowMs: number = Date.now()): string {
  const random = randomBytes(4).readUInt32BE() % 36 ** 4;
  return formatBase36(nowMs) + random.toString(36).padStart(4, "0");
}

/** Nine base-36 digits hold numbers below 36^9 ≈ 10^14: a time in milliseconds until the year 5188. */
const WIDTH = 9;

/** The greatest number that {@link formatBase36} formats. */
export const MAX_BASE36 = 36 ** WIDTH - 1;

/**
 * Formats a whole number from 0 to 36^9 - 1 as nine base-36 digits (0–9, a–z). Because of the fixed width,
 * the texts compare like the numbers.
 */
export function formatBase36(value: number): string {
  return value.toString(36).padStart(WIDTH, "0");
}

/** Parses a number written by {@link formatBase36}. Returns undefined for any other text. */
export function parseBase36(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9a-z]{9}$/.test(text) ? Number.parseInt(text, 36) : undefined;
}

/** 128 random bits in base64url, without padding. */
const PRODUCER_ID = /^[\w-]{22}$/;

/**
 * Returns an identifier of one bus object, with which it marks its batches: 22 characters that hold 128 random bits. If
 * two processes had the same one, the server would take a batch of one for a retry of the other and drop it.
 */
export function createProducerId(): string {
  return randomBytes(16).toString("base64url");
}

/** Returns whether a text has the form of {@link createProducerId}. */
export function isProducerId(text: string): boolean {
  return PRODUCER_ID.test(text);
}

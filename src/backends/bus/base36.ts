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

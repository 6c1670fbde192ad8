import { InvalidVariableError, quoteValue } from "./config-error.ts";

/** Returns whether `WEB_ENV` is production. */
export function parseMode(text: string): boolean {
  if (text === "production") return true;
  if (text === "development") return false;
  throw new InvalidVariableError(
    `is ${quoteValue(text)}, which is not a mode.`,
    'Set it to "production" or "development", or remove it.',
  );
}

/** Returns whether a flag is on. Only `1` and `0` are valid, so that `yes` or `false` cannot be misunderstood. */
export function parseBoolean(text: string): boolean {
  if (text === "1") return true;
  if (text === "0") return false;
  throw new InvalidVariableError(
    `is ${quoteValue(text)}, which is neither 1 nor 0.`,
    "Set it to 1 to turn it on. Set it to 0 or remove it to turn it off.",
  );
}

/** Returns one of a few words. */
export function parseChoice<const T extends string>(text: string, choices: readonly T[]): T {
  const choice = choices.find((word) => word === text);
  if (choice !== undefined) return choice;
  const list = choices.map((word) => `"${word}"`).join(", ");
  throw new InvalidVariableError(`is ${quoteValue(text)}, which is not one of its values.`, `Set it to ${list}.`);
}

/** Returns a decimal integer from `min` to `max`. */
export function parseInteger(text: string, min: number, max: number): number {
  const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new InvalidVariableError(
    `is ${quoteValue(text)}, which is not a whole number from ${min} to ${max}.`,
    `Set it to a whole number from ${min} to ${max}.`,
  );
}

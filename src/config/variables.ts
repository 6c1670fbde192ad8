import { InvalidVariableError, quoteValue } from "./config-error.ts";
/** The environment variables of tsweb, all of them: `loadConfig` can read no other. Each is in docs/configuration.md. */
export const VARIABLES = [
  "HOST",
  "PORT",
  "WEB_ACCESS_LOG",
  "WEB_AUTH_SECRET",
  "WEB_AUTH_SECRET_PREVIOUS",
  "WEB_BUS_URL",
  "WEB_COMPRESS",
  "WEB_COOKIE_SECURE",
  "WEB_CSRF_SECRET",
  "WEB_DATA_DIR",
  "WEB_DRAIN_SECONDS",
  "WEB_ENV",
  "WEB_LOG_LEVEL",
  "WEB_MAX_STREAMS_PER_CLIENT",
  "WEB_MAX_UPLOAD_BYTES",
  "WEB_MAX_UPLOAD_BYTES_PER_CLIENT",
  "WEB_METRICS_PATH",
  "WEB_METRICS_PORT",
  "WEB_METRICS_TOKEN",
  "WEB_ORIGIN",
  "WEB_REALM",
  "WEB_SESSION_COOKIE",
  "WEB_STOP_SECONDS",
  "WEB_TRUST_PROXY",
  "WEB_UPLOAD_DIR",
  "WEB_WORKERS",
] as const;

/** The name of an environment variable of tsweb. */
export type Variable = (typeof VARIABLES)[number];

/** Environment variables, in the form of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

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

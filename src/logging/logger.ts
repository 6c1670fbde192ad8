import { pino } from "pino";
import { serializeError } from "./serialize-error.ts";

/** What the framework writes to: fields first, then the sentence. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Writes one JSON line for each event to standard output, for machines to read. Of an error, under
 * `err`, it has what {@link serializeError} gives and nothing else that may hang on it.
 */
export function createJsonLogger(): Logger {
  return pino({
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
    serializers: { err: (thrown: unknown) => serializeError(thrown) },
  });
}

/** Writes for a person at a terminal. */
export function createConsoleLogger(): Logger {
  const write = (fields: object, message: string) => {
    const { err, ...rest } = fields as { err?: unknown }; // any object of fields
    const extra = Object.entries(rest).map(([key, value]) => `${key}=${String(value)}`);
    console.error([message, ...extra].join("  "));
    if (err !== undefined) console.error(err);
  };
  return { info: write, warn: write, error: write };
}

import { pino } from "pino";
import { writeLogLine } from "./log-output.ts";
import { serializeError } from "./serialize-error.ts";

/** The log of an application. Each method writes one line with these fields and this message. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Returns a logger that writes one line of JSON for each event to standard output. The field `err` is written as
 * {@link serializeError} returns it, without any other field of the error. Logging never blocks: lines that cannot be
 * written are dropped and counted.
 */
export function createJsonLogger(): Logger {
  const options = {
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
    serializers: { err: (thrown: unknown) => serializeError(thrown) },
  };
  return pino(options, { write: writeLogLine });
}

/** A logger for development. */
export interface ConsoleLogger extends Logger {
  /** Prints an error, after the line about the event. The development server replaces it. */
  printError: (error: unknown, event: string) => void;
}

/** Returns a logger that writes readable text to standard error, for development. */
export function createConsoleLogger(): ConsoleLogger {
  const write = (fields: object, message: string) => {
    const { err, ...rest } = fields as { readonly err?: unknown }; // fields may have any names
    const extra = Object.entries(rest).map(([key, value]) => `${key}=${String(value)}`);
    const line = [message, ...extra].join("  ");
    if (err === undefined) console.error(line);
    else logger.printError(err, line);
  };
  const printError = (error: unknown, event: string) => {
    console.error(event);
    console.error(error);
  };
  const logger: ConsoleLogger = { info: write, warn: write, error: write, printError };
  return logger;
}

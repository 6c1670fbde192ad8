import { AsyncResource } from "node:async_hooks";
import { jsonLine } from "./json-line.ts";
import { writeLogLine } from "./log-output.ts";
import { type SerializedError, serializeError } from "./serialize-error.ts";

/** A log, such as one of pino. Each method writes one line with these fields and this message. */
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
  const write = (level: string) => (fields: object, message: string) => {
    const written = "err" in fields ? { ...fields, err: serializeError(fields.err) } : fields;
    writeLogLine(jsonLine(level, written, message));
  };
  return { info: write("info"), warn: write("warn"), error: write("error") };
}

/** The methods of a {@link Logger}. */
const METHODS = ["info", "warn", "error"] as const;

/**
 * Returns a logger that writes to one of the application. The field `err` is passed as {@link safeError} returns it.
 *
 * @throws TypeError for a value without the methods of a logger
 */
export function wrapLogger(logger: unknown): Logger {
  const methods = Object(logger) as Partial<Record<string, unknown>>; // any object can be read like this
  const missing = METHODS.find((name) => typeof methods[name] !== "function");
  if (missing) {
    throw new TypeError(
      `new App: log has no method ${missing}. Pass a logger whose methods take fields and a message, such as pino(): ` +
        'log.info({ id: 1 }, "Saved").',
    );
  }
  const target = logger as Logger; // checked above
  const forward = (name: (typeof METHODS)[number]) => (fields: object, message: string) => {
    target[name]("err" in fields ? { ...fields, err: safeError(fields.err) } : fields, message);
  };
  return { info: forward("info"), warn: forward("warn"), error: forward("error") };
}

/** A logger for development. */
export interface ConsoleLogger extends Logger {
  /** Prints an error, after the line about the event. The development server replaces it. */
  printError: (error: unknown, event: string) => void;
}

/** Returns a logger that writes readable text to standard error, for development. */
export function createConsoleLogger(): ConsoleLogger {
  const write = (fields: object, message: string) => {
    // Fields may have any names. A developer sees one request at a time, and needs no trace.
    const { err, trace_id: _, ...rest } = fields as { readonly err?: unknown; readonly trace_id?: unknown };
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

/**
 * Returns an error with only those fields of a thrown value that {@link serializeError} returns, for loggers that write
 * all fields of an error: those of HTTP and database clients contain secrets. Its class has the name of the original one.
 */
function safeError(thrown: unknown): Error {
  return toError(serializeError(thrown));
}

function toError({ type, message, stack, cause, errors, ...fields }: SerializedError): Error {
  const NamedError = { [type]: class extends Error {} }[type] ?? Error;
  const error = new NamedError(message, cause ? { cause: toError(cause) } : {});
  Object.assign(error, fields, errors ? { errors: errors.map(toError) } : {});
  error.stack = stack ?? `${type}: ${message}`;
  return error;
}

/** The asynchronous context in which this module was loaded: that of no request. */
const background = new AsyncResource("tsweb.backgroundLog");

/**
 * Returns a log whose lines belong to no request, for the state of what all requests share, such as a connection. Otherwise
 * they would have the `trace_id` of the request that happened to notice the change, or that happened to connect first.
 */
export function backgroundLog(log: Logger): Logger {
  const write = (level: keyof Logger) => (fields: object, message: string) =>
    background.runInAsyncScope(() => log[level](fields, message));
  return { info: write("info"), warn: write("warn"), error: write("error") };
}

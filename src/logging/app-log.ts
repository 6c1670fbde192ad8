import { LOG_LEVELS, type LogLevel } from "./log-output.ts";
import type { Logger } from "./logger.ts";
import { type RefusalReason, RefusalSummary } from "./refusal-summary.ts";

/** The log of one application, as all of its parts write to it. */
export interface AppLog extends Logger {
  /**
   * Logs that tsweb itself has refused a request. A client can cause this as often as it likes, so at most one line a
   * minute is written for each reason: the first refusal at once, then the number of those that followed.
   *
   * @param fields those of the line: the id of the request, and what the reason depends on
   */
  refused(reason: RefusalReason, fields: object, message: string): void;
}

/** The options of {@link createAppLog}. */
export interface AppLogOptions {
  /** The lowest level that is written. */
  readonly level: LogLevel;
  /** Returns the fields that each line of the current request has; `undefined` outside requests. */
  readonly requestFields: () => object | undefined;
  /** Called with each unexpected error: the field `err` of a line of the level `error`. It must not throw. */
  readonly onError: (error: unknown) => void;
  /** Called for each request that was refused. It must not throw. */
  readonly onRefused?: ((reason: RefusalReason) => void) | undefined;
}

/** The log of an application, and what ends it. */
export interface ClosableAppLog extends AppLog {
  /** Writes the refusals that were counted and not yet logged. */
  close(): void;
}

/** Returns the log of an application, which writes its lines to a logger. */
export function createAppLog(
  logger: Logger,
  { level, requestFields, onError, onRefused }: AppLogOptions,
): ClosableAppLog {
  const lowest = LOG_LEVELS.indexOf(level);
  const write = (name: keyof Logger, fields: object, message: string) => {
    if (LOG_LEVELS.indexOf(name) >= lowest) logger[name]({ ...fields, ...requestFields() }, message);
  };
  const summary = new RefusalSummary((fields, message) => write("warn", fields, message));
  return {
    info: (fields, message) => write("info", fields, message),
    warn: (fields, message) => write("warn", fields, message),
    error(fields, message) {
      write("error", fields, message);
      if ("err" in fields) onError(fields.err);
    },
    refused(reason, fields, message) {
      onRefused?.(reason);
      summary.add(reason, { ...fields, ...requestFields() }, message);
    },
    close: () => summary.close(),
  };
}

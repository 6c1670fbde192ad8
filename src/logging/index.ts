import { AsyncResource } from "node:async_hooks";
import { LOG_LEVELS, type LogLevel } from "./log-output.ts";
import type { Logger } from "./logger.ts";

export { droppedLogLines, LOG_LEVELS, type LogLevel, logEvent } from "./log-output.ts";
export {
  backgroundLog,
  type ConsoleLogger,
  createConsoleLogger,
  createJsonLogger,
  type Logger,
  wrapLogger,
} from "./logger.ts";
export { serializeError } from "./serialize-error.ts";

/**
 * Why tsweb has refused a request: it came from another site, too often, was too large, needs an unreachable bus, or page and
 * server are of different builds, of which that of the page or that of the server is the earlier one. `unknown_secret`: only
 * its session was refused, and it was served as one of a signed-out client.
 */
export type RefusalReason = "origin" | "rate" | "size" | "bus" | "stale_page" | "stale_server" | "unknown_secret";

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
  /**
   * Called with the error of each line about messages that the bus did not store: such a line is written at most once a
   * minute for each cause, and stands for all errors of this cause. It must not throw.
   */
  readonly onPublishFailures: (error: unknown) => void;
  /** Called for each request that was refused. It must not throw. */
  readonly onRefused?: ((reason: RefusalReason) => void) | undefined;
}

/** The log of an application, and what ends it. */
export interface ClosableAppLog extends AppLog {
  /** Writes what was counted and not yet logged. */
  close(): void;
}

/** Returns the log of an application, which writes its lines to a logger. */
export function createAppLog(
  logger: Logger,
  { level, requestFields, onError, onPublishFailures, onRefused }: AppLogOptions,
): ClosableAppLog {
  const lowest = LOG_LEVELS.indexOf(level);
  const write = (name: keyof Logger, fields: object, message: string) => {
    if (LOG_LEVELS.indexOf(name) >= lowest) logger[name](fields, message);
  };
  const withRequest = (fields: object) => ({ ...fields, ...requestFields() });
  const refusals = new LineSummary<RefusalReason>({
    write: (fields, message) => write("warn", fields, message),
    countField: "refused",
    describe: (count, reason) => {
      const refused = reason === "unknown_secret" ? "session" : "request";
      return count === 1 ? `1 ${refused} was refused` : `${count} ${refused}s were refused`;
    },
  });
  // By cause: otherwise a full memory would be logged only a minute after the end of an outage.
  const publishFailures = new LineSummary<string>({
    write(fields, message) {
      write("error", { ...fields, reason: "publish" }, message);
      if ("err" in fields) onPublishFailures(fields.err);
    },
    countField: "failed",
    describe: (count) => `The bus did not store ${count === 1 ? "1 message" : `${count} messages`}`,
  });
  /** Some errors are logged twice, for example by a page and by its layout. */
  const countedFailures = new WeakSet<Error>();
  const error = (fields: object, message: string) => {
    if (!("err" in fields)) return write("error", withRequest(fields), message);
    const { err } = fields;
    if (!isPublishFailure(err)) write("error", withRequest(fields), message);
    else if (!countedFailures.has(err)) {
      countedFailures.add(err);
      publishFailures.add(countedCause(err, publishFailures), withRequest(fields), message);
    }
    onError(err);
  };
  return {
    info: (fields, message) => write("info", withRequest(fields), message),
    warn: (fields, message) => write("warn", withRequest(fields), message),
    error,
    refused(reason, fields, message) {
      onRefused?.(reason);
      refusals.add(reason, withRequest(fields), message);
    },
    close() {
      refusals.close();
      publishFailures.close();
    },
  };
}

/** The errors of messages that the bus did not store. Entries live as long as the error. */
const publishFailures = new WeakSet<object>();

/**
 * Marks the error of a message that the bus did not store. While the bus is unreachable, each call that publishes fails
 * with one, so the log of an application summarizes them.
 */
export function markPublishFailure(error: unknown): void {
  if (error instanceof Error) publishFailures.add(error);
}

/** Returns whether an error was marked by {@link markPublishFailure}. */
export function isPublishFailure(error: unknown): error is Error {
  return error instanceof Error && publishFailures.has(error);
}

/** How many causes are counted apart. More are counted together, so that the log stays short whatever errors contain. */
const MAX_CAUSES = 8;

/** The cause that stands for all further ones. */
const OTHER = "other";

/** How much of a message tells causes apart. */
const MAX_CAUSE_LENGTH = 200;

/**
 * Returns a text that is equal for errors of one cause: the class, the code and the message, without what differs from one
 * event to the next, such as numbers and quoted names.
 */
function causeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException; // `code` is read as undefined from any other error
  const message = error.message
    .slice(0, MAX_CAUSE_LENGTH)
    .replace(/"[^"]*"|'[^']*'|`[^`]*`/g, "…")
    .replace(/\b(?=\w*\d)\w+/g, "#");
  return [error.name, typeof code === "string" ? code : "", message].join(" ");
}

/** Returns the key with which a summary counts an error: its cause, or one that all causes beyond the eighth share. */
function countedCause(error: Error, counted: { readonly size: number; has(cause: string): boolean }): string {
  const cause = causeOf(error);
  return counted.has(cause) || counted.size < MAX_CAUSES ? cause : OTHER;
}

/** How long events of a reason are counted before they are logged. */
const INTERVAL_MS = 60_000;

/** The options of a {@link LineSummary}. */
interface LineSummaryOptions<Reason> {
  /** Writes one line. It must not throw. */
  readonly write: (fields: object, message: string) => void;
  /** The field with the number of events. */
  readonly countField: string;
  /** Returns what has happened in the last minute, for example `5 requests were refused`. */
  readonly describe: (count: number, reason: Reason) => string;
}

/** The events of one reason since its last line. */
interface Counted {
  count: number;
  /** The fields and the message of the latest one. */
  fields: object;
  message: string;
  timer: NodeJS.Timeout;
}

/**
 * Writes at most one line a minute for each reason: for the first event at once, and after each minute for those that
 * followed, with their number and the fields of the latest one.
 */
export class LineSummary<Reason extends string> {
  readonly #options: LineSummaryOptions<Reason>;
  readonly #byReason = new Map<Reason, Counted>();
  /** The asynchronous context of the timers. Otherwise each would keep that of a request alive, and log in it. */
  readonly #context = new AsyncResource("tsweb.LineSummary");

  constructor(options: LineSummaryOptions<Reason>) {
    this.#options = options;
  }

  /** Returns how many reasons are counted now. */
  get size(): number {
    return this.#byReason.size;
  }

  /** Returns whether events of this reason are counted now, so that the next one is not logged at once. */
  has(reason: Reason): boolean {
    return this.#byReason.has(reason);
  }

  /** Counts an event, or logs it if it is the first one. */
  add(reason: Reason, fields: object, message: string): void {
    const counted = this.#byReason.get(reason);
    if (counted) {
      counted.count++;
      Object.assign(counted, { fields, message });
      return;
    }
    this.#write(reason, { count: 1, fields, message });
    const timer = this.#context.runInAsyncScope(() => setInterval(() => this.#report(reason), INTERVAL_MS));
    timer.unref();
    this.#byReason.set(reason, { count: 0, fields, message, timer });
  }

  /** Writes what was counted, and starts again with the next event. */
  close(): void {
    for (const [reason, { timer }] of [...this.#byReason]) {
      this.#report(reason);
      clearInterval(timer);
      this.#byReason.delete(reason);
    }
  }

  #report(reason: Reason): void {
    const counted = this.#byReason.get(reason);
    if (!counted) return;
    const { count, fields, message, timer } = counted;
    if (count === 0) {
      clearInterval(timer);
      this.#byReason.delete(reason);
      return;
    }
    counted.count = 0;
    const happened = `${this.#options.describe(count, reason)} in the last minute.`;
    this.#write(reason, { count, fields, message: `${happened} The latest: ${message}` });
  }

  #write(reason: Reason, { count, fields, message }: Omit<Counted, "timer">): void {
    this.#options.write({ reason, [this.#options.countField]: count, ...fields }, message);
  }
}

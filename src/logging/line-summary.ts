import { AsyncResource } from "node:async_hooks";

/** How long events of a reason are counted before they are logged. */
const INTERVAL_MS = 60_000;

/** The options of a {@link LineSummary}. */
export interface LineSummaryOptions<Reason> {
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

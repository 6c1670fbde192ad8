/**
 * Why tsweb has refused a request: it came from another site, too often, was too large, needs an unreachable bus, or page and
 * server are of different builds, of which that of the page or that of the server is the earlier one.
 */
export type RefusalReason = "origin" | "rate" | "size" | "bus" | "stale_page" | "stale_server";

/** How long the refusals of a reason are counted before they are logged. */
const INTERVAL_MS = 60_000;

/** Writes one line. */
type WriteLine = (fields: object, message: string) => void;

/** The refusals of one reason since its last line. */
interface Counted {
  count: number;
  /** The fields and the message of the latest one. */
  fields: object;
  message: string;
  timer: NodeJS.Timeout;
}

/**
 * Writes at most one line a minute for each reason: for the first refusal at once, and after each minute for those that
 * followed, with their number and the fields of the latest one.
 */
export class RefusalSummary {
  readonly #write: WriteLine;
  readonly #byReason = new Map<RefusalReason, Counted>();

  constructor(write: WriteLine) {
    this.#write = write;
  }

  /** Counts a refusal, or logs it if it is the first one. */
  add(reason: RefusalReason, fields: object, message: string): void {
    const counted = this.#byReason.get(reason);
    if (counted) {
      counted.count++;
      Object.assign(counted, { fields, message });
      return;
    }
    this.#write({ reason, refused: 1, ...fields }, message);
    const timer = setInterval(() => this.#report(reason), INTERVAL_MS).unref();
    this.#byReason.set(reason, { count: 0, fields, message, timer });
  }

  /** Writes what was counted, and starts again with the next refusal. */
  close(): void {
    for (const [reason, { timer }] of [...this.#byReason]) {
      this.#report(reason);
      clearInterval(timer);
      this.#byReason.delete(reason);
    }
  }

  #report(reason: RefusalReason): void {
    const counted = this.#byReason.get(reason);
    if (!counted) return;
    const { count, fields, message, timer } = counted;
    if (count === 0) {
      clearInterval(timer);
      this.#byReason.delete(reason);
      return;
    }
    counted.count = 0;
    const requests = count === 1 ? "1 request was refused" : `${count} requests were refused`;
    this.#write({ reason, refused: count, ...fields }, `${requests} in the last minute. The latest: ${message}`);
  }
}

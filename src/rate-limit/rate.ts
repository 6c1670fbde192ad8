/** How many calls are accepted in any span of time. */
export interface Rate {
  /** The number of calls: a whole number from 1. */
  readonly calls: number;
  /** The span, in seconds: from 1 to 31,536,000, a year. */
  readonly seconds: number;
}

/** The longest span: a year. */
const MAX_SECONDS = 365 * 24 * 60 * 60;

/**
 * Checks a rate that an application has set.
 *
 * @param name what the messages call it, such as `option rate`
 * @param place where it was set, such as `new App`
 * @throws TypeError if it is no object
 * @throws RangeError if `calls` or `seconds` is not a number in its range
 */
export function checkRate(rate: unknown, name: string, place: string): asserts rate is Rate {
  if (typeof rate !== "object" || rate === null) {
    const received = rate === null ? "null" : `of type ${typeof rate}`;
    throw new TypeError(`Invalid ${name} in ${place}: it is ${received}. Use { calls: 120, seconds: 60 }.`);
  }
  const { calls, seconds } = rate as Partial<Record<keyof Rate, unknown>>; // any object can be read like this
  checkCount(calls, `${name}.calls`, place);
  // Longer spans would exceed what Redis accepts as an expiry, and what `Retry-After` can be.
  if (typeof seconds !== "number" || !(seconds >= 1 && seconds <= MAX_SECONDS))
    throw new RangeError(
      `Invalid ${name}.seconds in ${place}: ${String(seconds)}. Use a number from 1 to ${MAX_SECONDS}.`,
    );
}

/**
 * Checks a number of calls.
 *
 * @param minimum the least number
 * @throws RangeError if it is not a whole number from the minimum
 */
export function checkCount(value: unknown, name: string, place: string, minimum = 1): asserts value is number {
  if (Number.isSafeInteger(value) && Number(value) >= minimum) return;
  throw new RangeError(`Invalid ${name} in ${place}: ${String(value)}. Use a whole number from ${minimum}.`);
}

/**
 * Returns what the outcome of an idempotent function takes, in bytes: in the memory of a process, and of the limit of its client. The
 * engine stores a character in up to two bytes.
 */
export function outcomeBytes(text: string): number {
  return 512 + 2 * text.length;
}

/** What is counted: the calls under each key of a name. Counts of one name and span are shared, whatever its `calls`. */
export class CountLimit {
  readonly calls: number;
  readonly seconds: number;
  readonly spanMs: number;
  /** The name of its counts: they differ if the span does, because buckets of other lengths have other numbers. */
  readonly id: string;
  /** `calls` and `spanMs` as the script in Redis takes them. */
  readonly args: readonly [calls: string, spanMs: string];
  /** Who is limited, for the log: `one user`. */
  readonly owner: string;

  constructor(name: string, { calls, seconds }: Rate, owner: string) {
    this.calls = calls;
    this.seconds = seconds;
    this.spanMs = Math.ceil(seconds * 1000);
    this.id = `${this.spanMs}:${name}`;
    this.args = [String(calls), String(this.spanMs)];
    this.owner = owner;
  }

  /** For example `120 calls in 60 seconds for one user`. */
  get text(): string {
    return `${this.calls} calls in ${this.seconds} seconds for ${this.owner}`;
  }
}

/** When a client may try again, in the forms that a refusal contains. */
interface RetryAdvice {
  /** The wait in whole seconds, at least 1. */
  readonly seconds: number;
  /** The end of the error's message: `Try again in 1 second.`, from two minutes on in minutes, then in hours and days. */
  readonly sentence: string;
  /** The `details` of the error. The header `Retry-After` of its response is derived from them. */
  readonly details: { readonly retry_after: number };
}

/**
 * Returns when a client may try again, rounded up to whole seconds: one that waits for this time has waited enough.
 *
 * @param waitSeconds the wait in seconds, at least 0
 * @see docs/protocol.md 9.3; RFC 9110, section 10.2.3
 */
export function retryAdvice(waitSeconds: number): RetryAdvice {
  const seconds = Math.max(1, Math.ceil(waitSeconds));
  return {
    seconds,
    sentence: `Try again in ${formatWait(seconds)}.`,
    details: { retry_after: seconds },
  };
}

/** The units of a wait, and from how many seconds on they are used. */
const UNITS = [
  ["day", 24 * 60 * 60, 2 * 24 * 60 * 60],
  ["hour", 60 * 60, 2 * 60 * 60],
  ["minute", 60, 2 * 60],
  ["second", 1, 0],
] as const;

function formatWait(seconds: number): string {
  const [unit, length] = UNITS.find(([, , from]) => seconds >= from) ?? ["second", 1];
  const count = Math.ceil(seconds / length);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** Why a call was refused. */
export interface Refusal {
  /** The seconds until the next call is accepted. */
  readonly waitSeconds: number;
  /** The limit that was reached; of several the one with the longest wait. */
  readonly limit: CountLimit;
}

/** What is left under one key. */
export interface Balance {
  /** How much is left now, at least 0. */
  readonly left: number;
  /** The seconds until something is left; 0 if it is now. */
  readonly waitSeconds: number;
  /** The seconds until nothing counts any more; 0 if nothing does now. */
  readonly resetSeconds: number;
  /** Whether the cost was counted. */
  readonly isCounted: boolean;
}

/** How a cost is counted: `check` counts it if anything is left, `charge` always. `peek` counts nothing. */
export type CountMode = "check" | "charge" | "peek";

/** One use of a count by the application. */
export interface Use {
  readonly mode: CountMode;
  /** A whole number from 0. A cost above what is left is counted in full. */
  readonly cost: number;
  /** Whether to reject if the count that processes share is unreachable, in place of counting in this process. */
  readonly strict: boolean;
}

/**
 * Counts calls under keys. Each operation is atomic.
 *
 * @see docs/protocol.md 9.2
 */
export interface RateStore {
  /**
   * Counts one call under several keys at once, or under none of them if one has nothing left.
   *
   * @param keys one for each limit, in the same order
   * @returns `null` if the call was counted
   */
  take(limits: readonly CountLimit[], keys: readonly string[]): Refusal | null | Promise<Refusal | null>;
  /**
   * Counts a cost under one key, and returns what is left then.
   *
   * @throws StoreUnavailableError if `strict` is set and the shared count is unreachable
   */
  use(limit: CountLimit, key: string, use: Use): Balance | Promise<Balance>;
}

/** The count that processes share is unreachable, and the caller wants no other. */
export class StoreUnavailableError extends Error {}

/** A rate store that an application starts and closes. */
export interface ManagedRateStore extends RateStore {
  /**
   * Prepares the store before the first call.
   *
   * @throws ConfigError if the store cannot be used with this configuration
   */
  start(): Promise<void>;
  /** Releases connections and timers. */
  close(): Promise<void>;
}

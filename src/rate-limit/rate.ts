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

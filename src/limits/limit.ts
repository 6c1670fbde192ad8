import { rejectUnknownOptions } from "../config/index.ts";
import { RPCError } from "../errors.ts";
import { ContextKey, currentContext, UnavailableError } from "../http/index.ts";
import {
  type Balance,
  CountLimit,
  type CountMode,
  checkCount,
  checkRate,
  hashedKey,
  memoryRateStore,
  type Rate,
  type RateStore,
  retryAdvice,
  StoreUnavailableError,
} from "../rate-limit/index.ts";

/** The options of {@link Limit}. Counts of one key and one span are shared, whatever their `calls`. */
export interface LimitOptions extends Rate {
  /** How much is counted: a whole number from 0. Default: 1. */
  readonly cost?: number;
  /**
   * Whether to throw while the Redis in which processes share the counts is unreachable. Default: `false`, each process then
   * counts for itself.
   */
  readonly strict?: boolean;
}

/** What is left of a limit. */
export interface LimitState {
  /** How much is left, at least 0. */
  readonly left: number;
  /** The seconds until something is left; 0 if it is now. */
  readonly retry_after: number;
  /** The seconds until everything is left, unless more is counted. */
  readonly reset_after: number;
}

/**
 * Counts anything under a key, anywhere in server code. At most `calls` are accepted in any span of `seconds`.
 *
 * Each operation is atomic for its key. With Redis as the bus, all processes share the counts. With NATS and without a bus, each
 * process counts for itself, and a restart forgets its counts.
 *
 * @see docs/limits.md
 */
export interface Limit {
  /**
   * Counts a cost if anything is left of the limit. The last cost that is accepted may exceed what is left: it is counted in full,
   * and nothing is accepted until enough no longer counts. With a cost of 0, it only checks whether anything is left.
   *
   * @param key a text of any length, such as `ask:${user.sub}`
   * @returns what is left afterwards
   * @throws RPCError `rate_limited` if nothing is left, with `details.retry_after`
   * @throws RPCError with status 503 if `strict` is set and Redis is unreachable
   * @throws TypeError or RangeError for an invalid key or option
   * @throws Error outside a request, if the process has several applications
   */
  (key: string, options: LimitOptions): Promise<LimitState>;
  /**
   * Counts a cost that has arisen already, also above the limit. It refuses nothing; the next call of `limit` does.
   *
   * @returns what is left afterwards
   * @throws as `limit`, apart from `rate_limited`
   */
  charge(key: string, options: LimitOptions): Promise<LimitState>;
  /** Returns what is left, and counts nothing. Others may count before the next operation. */
  peek(key: string, options: Omit<LimitOptions, "cost">): Promise<LimitState>;
}

/**
 * Returns a {@link Limit}.
 *
 * @param findStore returns the store that counts
 */
export function createLimit(findStore: (caller: string) => RateStore): Limit {
  const use = async (mode: CountMode, key: string, options: LimitOptions) => {
    const caller = mode === "check" ? "limit()" : `limit.${mode}()`;
    checkKey(key, caller);
    checkOptions(options, caller, mode === "peek" ? PEEK_OPTIONS : OPTIONS);
    const { cost = 1, strict = false } = options;
    try {
      return await findStore(caller).use(limitOf(options), hashedKey(key), { mode, cost, strict });
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw new UnavailableError(`${caller} is strict. ${error.message}`);
      throw error;
    }
  };
  const limit = async (key: string, options: LimitOptions) => {
    const balance = await use("check", key, options);
    if (balance.isCounted) return stateOf(balance);
    const { sentence, details } = retryAdvice(balance.waitSeconds);
    throw new RPCError("rate_limited", `The limit is reached. ${sentence}`, details);
  };
  return Object.assign(limit, {
    charge: async (key: string, options: LimitOptions) => stateOf(await use("charge", key, options)),
    peek: async (key: string, options: Omit<LimitOptions, "cost">) => stateOf(await use("peek", key, options)),
  });
}

/** Counts in the application of the current request; outside a request, in the only application of the process. */
export const limit: Limit = createLimit((caller) => currentContext()?.get(RATE_STORE) ?? onlyStore(caller));

/** All uses of one span share the counts of a key. */
function limitOf(rate: Rate): CountLimit {
  return new CountLimit("key", rate, "one key");
}

function stateOf({ left, waitSeconds, resetSeconds }: Balance): LimitState {
  return { left, retry_after: Math.ceil(waitSeconds), reset_after: Math.ceil(resetSeconds) };
}

const PEEK_OPTIONS: Readonly<Record<Exclude<keyof LimitOptions, "cost">, true>> = {
  calls: true,
  seconds: true,
  strict: true,
};
const OPTIONS: Readonly<Record<keyof LimitOptions, true>> = { ...PEEK_OPTIONS, cost: true };

/** @throws TypeError for an empty key, too: it is probably a missing value, and everybody would share its count */
function checkKey(key: unknown, caller: string): void {
  if (typeof key === "string" && key !== "") return;
  const received = key === "" ? "an empty string" : key === null ? "null" : typeof key;
  throw new TypeError(
    `${caller}: the key must be a non-empty string, such as "ask:" + session.require().sub. Received: ${received}.`,
  );
}

function checkOptions(options: unknown, caller: string, valid: Readonly<Record<string, true>>): void {
  rejectUnknownOptions(options, valid, caller);
  checkRate(options, "options", caller);
  const { cost, strict } = options as Partial<Record<keyof LimitOptions, unknown>>; // an object, which was checked
  if (cost !== undefined) checkCount(cost, "options.cost", caller, 0);
  if (strict !== undefined && typeof strict !== "boolean") {
    throw new TypeError(`Invalid options.strict in ${caller}: it is of type ${typeof strict}. Use true or false.`);
  }
}

/** The store of the application of a request. */
export const RATE_STORE = new ContextKey<RateStore>();

/**
 * The stores of the applications of this process.
 *
 * This is module-level state because its lifetime is the process's: outside a request, `limit` has no other way to find
 * its application.
 */
const stores = new Set<RateStore>();

/** Counts while no application is open, for example in a test of a function. */
const fallbackStore = memoryRateStore();

/** Whether this process is a development server, which makes a new App after every edit. */
let isDevelopment = false;

/** Adds the store of an application. In a development server it takes the place of the earlier ones. */
export function addStore(store: RateStore): void {
  if (isDevelopment) stores.clear();
  stores.add(store);
}

/** Removes the store of an application that was closed. */
export function removeStore(store: RateStore): void {
  stores.delete(store);
}

/** Marks this process as a development server, and the application of a store as its current one. */
export function setDevelopmentStore(store: RateStore): void {
  isDevelopment = true;
  if (!stores.has(store)) return; // an edit has replaced it while it was loading
  stores.clear();
  stores.add(store);
}

/**
 * Returns the store of the only application of this process.
 *
 * @param caller the public function, for the message
 * @throws Error when there are several applications
 */
function onlyStore(caller: string): RateStore {
  if (stores.size > 1) {
    throw new Error(
      `${caller} was called outside a request, and this process has ${stores.size} applications. Call app.${caller} of the ` +
        "application whose counts are meant, or close the other applications.",
    );
  }
  const [store = fallbackStore] = stores;
  return store;
}

import { rejectUnknownOptions } from "../config/index.ts";
import { adviseDeveloper, CONNECTION_CLOSE, type RequestContext, RequestError } from "../http/index.ts";
import {
  CountLimit,
  checkCount,
  checkRate,
  clientKey,
  hashedKey,
  memoryRateStore,
  type Rate,
  type RateStore,
  type Refusal,
  retryAdvice,
} from "../rate-limit/index.ts";
import { countedUser } from "../session/index.ts";

/** How many calls the clients of an application can make. */
export interface AppRate extends Rate {
  /**
   * The number of calls of all users and signed-out clients of one address together, in the same span: from `calls`. Default: 60
   * times `calls`.
   */
  readonly per_address?: number;
}

/** The rate of an application that sets none. */
const DEFAULT_RATE: AppRate = { calls: 120, seconds: 60 };

/** How much more than one client an address may do by default: an office has one address. */
const CLIENTS_PER_ADDRESS = 60;

/**
 * Checks the option `rate` of `new App`.
 *
 * @throws TypeError or RangeError for a value that it cannot have
 */
export function checkAppRate(rate: unknown): asserts rate is AppRate | false | undefined {
  if (rate === undefined || rate === false) return;
  checkRate(rate, "option rate", "new App");
  rejectUnknownOptions(rate, RATE_OPTIONS, "rate of new App");
  const { per_address } = rate as AppRate; // checked in the next line
  if (per_address !== undefined) checkCount(per_address, "option rate.per_address", "new App", rate.calls);
}

const RATE_OPTIONS: Readonly<Record<keyof AppRate, true>> = { calls: true, seconds: true, per_address: true };

/** What a call counts for: nothing if it was counted; otherwise why it was refused. */
type Counted = Refusal | null | Promise<Refusal | null>;

/** Counts the calls of an application. */
export interface CallCounter {
  /**
   * Counts a request with a bearer token for its address, before the token is checked: that may take a query of a database. It is
   * another count than that of the calls: otherwise one client with forged tokens could use up the calls of its address.
   *
   * @param token for a call or a form, which then counts for its token too, as its user would: otherwise one client that sends
   *   too many could use up the tokens of its address. Requests of other kinds have no limit for one client.
   * @returns `null` if it was counted; otherwise what to pass to {@link requireLeft}
   */
  countAddress(context: RequestContext, token?: string): Counted;
  /**
   * Counts a call: for its address, for its user or signed-out client, and for its function. If one of
   * them has nothing left, it counts for none.
   *
   * @param own the limits of the function; absent if it has none, or if there is no such function
   */
  countCall(context: RequestContext, own?: FunctionLimits): Counted;
  /** Counts a call whose arguments were checked, by the key of its function; `null` if the function has none. */
  countArguments(own: FunctionLimits | undefined, args: readonly unknown[]): Counted;
  /** Counts a request whose credentials were refused, as a call of a signed-out client, after {@link countAddress}. */
  countRefusedCredentials(context: RequestContext): Counted;
  /**
   * Returns the counter for the development server. It refuses what is above a rate that the application has set, and passes the
   * default limit to `advise` when a client reaches it: somebody who tries out an application should not wait for a minute.
   */
  inDevelopment(advise: (limit: CountLimit) => void): CallCounter;
}

/**
 * Returns the counter of an application.
 *
 * A signed-in client counts by its user, any other by its address, so that the users of one address do not use up each other's
 * calls. A sign-in or a sign-out resets nothing: what was counted for the address stays.
 *
 * @param rate the option of the application; `false`: only functions with a rate of their own are limited
 * @see docs/protocol.md 9.2
 */
export function callCounter(store: RateStore, rate: AppRate | false = DEFAULT_RATE): CallCounter {
  const { address, tokens, token, signedOut, user } = rate === false ? NO_LIMITS : appLimits(rate);

  return {
    countAddress(context, text) {
      if (address.length === 0) return null;
      const key = clientKey(context.address);
      return text === undefined ? store.take(tokens, [key]) : store.take(token, [key, hashedKey(text)]);
    },

    countCall(context, own) {
      if (address.length === 0 && !own) return null;
      const addressKey = clientKey(context.address);
      const userKey = countedUser(context);
      const key = userKey ?? addressKey;
      const client = userKey === null ? signedOut : user;
      if (!own) return store.take(client.withAddress, [addressKey, key]);
      const limits = [...client.withAddress, userKey === null ? own.signedOut : own.user];
      const keys = limits.map((limit) => (limit === address[0] ? addressKey : key));
      return store.take(limits, keys);
    },

    countArguments(own, args) {
      return own?.by ? store.take(own.by.limits, [hashedKey(own.by.keyOf(args))]) : null;
    },

    countRefusedCredentials(context) {
      return address.length === 0 ? null : store.take(signedOut.alone, [clientKey(context.address)]);
    },

    inDevelopment(advise) {
      return rate === DEFAULT_RATE ? advisingCounter(store, advise) : this;
    },
  };
}

/** Returns a counter that only advises of the default limit. Functions with a rate of their own are limited. */
function advisingCounter(store: RateStore, advise: (limit: CountLimit) => void): CallCounter {
  const own = callCounter(store, false);
  const observed = callCounter(memoryRateStore());
  const adviseOf = (refusal: Refusal | null | Promise<Refusal | null>) => {
    if (refusal && "limit" in refusal) advise(refusal.limit); // the store in memory returns no promise
  };
  return {
    countAddress(context, token) {
      adviseOf(observed.countAddress(context, token));
      return null;
    },
    countCall(context, limits) {
      adviseOf(observed.countCall(context));
      return own.countCall(context, limits);
    },
    countArguments: own.countArguments,
    countRefusedCredentials(context) {
      adviseOf(observed.countRefusedCredentials(context));
      return null;
    },
    inDevelopment() {
      return this;
    },
  };
}

/** The limits of a client, without that of its address, and after it. Each array is created once. */
interface ClientLimits {
  readonly alone: readonly CountLimit[];
  readonly withAddress: readonly CountLimit[];
}

interface AppLimits {
  readonly address: readonly CountLimit[];
  /** That of the bearer tokens of an address. */
  readonly tokens: readonly CountLimit[];
  /** The same, and that of one bearer token. */
  readonly token: readonly CountLimit[];
  readonly signedOut: ClientLimits;
  readonly user: ClientLimits;
}

const NONE: ClientLimits = { alone: [], withAddress: [] };
const NO_LIMITS: AppLimits = { address: [], tokens: [], token: [], signedOut: NONE, user: NONE };

function appLimits(rate: AppRate): AppLimits {
  const calls = rate.per_address ?? Math.min(rate.calls * CLIENTS_PER_ADDRESS, Number.MAX_SAFE_INTEGER);
  const address = new CountLimit("address", { calls, seconds: rate.seconds }, "all clients of one address");
  const tokens = new CountLimit("tokens", { calls, seconds: rate.seconds }, "all bearer tokens of one address");
  const limitsOf = (limit: CountLimit): ClientLimits => ({ alone: [limit], withAddress: [address, limit] });
  return {
    address: [address],
    tokens: [tokens],
    token: [tokens, new CountLimit("token", rate, "one bearer token")],
    signedOut: limitsOf(new CountLimit("signed-out", rate, "the signed-out clients of one address")),
    user: limitsOf(new CountLimit("user", rate, "one user")),
  };
}

/**
 * Throws if a call was refused.
 *
 * @param hasBody whether the body of the request was read: otherwise the connection is closed
 * @throws RequestError `rate_limited`, with `details.retry_after`
 * @see docs/protocol.md 9.3
 */
export function requireLeft(refusal: Refusal | null, { hasBody = false } = {}): void {
  if (refusal === null) return;
  const { sentence, details } = retryAdvice(refusal.waitSeconds);
  const headers = hasBody ? {} : CONNECTION_CLOSE;
  const error = new RequestError("rate_limited", `Too many calls. ${sentence}`, { headers, details });
  throw adviseDeveloper(error, `The limit is ${refusal.limit.text}.`);
}

/** How often one user, or one address of signed-out clients, may call a function. */
export interface FunctionRate<Args extends readonly unknown[] = readonly never[]> extends Rate {
  /**
   * Returns the key of a second count with the same limit, from the checked arguments: for example the e-mail address of a
   * sign-in. Such a count lets anybody use up the calls for a key that is not theirs.
   */
  readonly by?: (...args: Args) => string;
}

const FUNCTION_RATE_OPTIONS: Readonly<Record<keyof FunctionRate, true>> = { calls: true, seconds: true, by: true };

/** The limits of a server function with a rate of its own. */
export interface FunctionLimits {
  readonly user: CountLimit;
  readonly signedOut: CountLimit;
  readonly by: ArgumentLimit | undefined;
}

/** A limit for a key that follows from the arguments. */
interface ArgumentLimit {
  readonly limits: readonly [CountLimit];
  /** @throws TypeError if the function of the application returns no text */
  readonly keyOf: (args: readonly unknown[]) => string;
}

/**
 * Returns the limits of a function, after checking its option `rate`; `undefined` without one.
 *
 * @param place where it was declared, for messages
 * @throws TypeError or RangeError for a value that it cannot have
 */
export function functionLimits(name: string, rate: unknown, place: string): FunctionLimits | undefined {
  if (rate === undefined) return undefined;
  checkRate(rate, "option rate", place);
  rejectUnknownOptions(rate, FUNCTION_RATE_OPTIONS, `rate of ${place}`);
  const { by } = rate as { readonly by?: unknown }; // an object, which has been checked
  const limitOf = (kind: string, owner: string) =>
    new CountLimit(`function:${name}:${kind}`, rate, `${owner} of ${name}`);
  return {
    user: limitOf("user", "one user"),
    signedOut: limitOf("signed-out", "the signed-out clients of one address"),
    by: by === undefined ? undefined : argumentLimit(by, limitOf("by", "one key of `by`"), place),
  };
}

function argumentLimit(by: unknown, limit: CountLimit, place: string): ArgumentLimit {
  if (typeof by !== "function") {
    throw new TypeError(
      `Invalid option rate.by in ${place}: it is of type ${typeof by}. Use a function that returns the key of the count, ` +
        "such as (email) => email.",
    );
  }
  return {
    limits: [limit],
    keyOf(args) {
      const key: unknown = Reflect.apply(by, undefined, args);
      if (typeof key === "string") return key;
      // The rejection of a promise would otherwise end the process. The call fails with the error below.
      Promise.resolve(key).catch(() => undefined);
      // The value itself may be an argument of a stranger.
      throw new TypeError(
        `rate.by in ${place} returned a value of type ${typeof key}. It must return a string: the key of the count.`,
      );
    },
  };
}

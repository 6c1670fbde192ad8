import { rejectUnknownOptions } from "../config/index.ts";
import { CountLimit, checkRate, type Rate } from "../rate-limit/index.ts";

/** How often one user, or one address of signed-out clients, may call a function. */
export interface FunctionRate<Args extends readonly unknown[] = readonly never[]> extends Rate {
  /**
   * Returns the key of a second count with the same limit, from the checked arguments: for example the e-mail address of a
   * sign-in. Such a count lets anybody use up the calls for a key that is not theirs.
   */
  readonly by?: (...args: Args) => string;
}

const RATE_OPTIONS: Readonly<Record<keyof FunctionRate, true>> = { calls: true, seconds: true, by: true };

/** The limits of a server function with a rate of its own. */
export interface FunctionLimits {
  readonly user: CountLimit;
  readonly signedOut: CountLimit;
  readonly by: ArgumentLimit | undefined;
}

/** A limit for a key that follows from the arguments. */
export interface ArgumentLimit {
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
  rejectUnknownOptions(rate, RATE_OPTIONS, `rate of ${place}`);
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

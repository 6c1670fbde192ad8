import type { CountLimit } from "./rate.ts";

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

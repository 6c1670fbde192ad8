/** Where calls are counted. */
export interface RateStore {
  /**
   * Counts a call of a client, unless it is one too many.
   *
   * @returns 0 when it was counted; else the seconds to wait, and nothing was counted
   */
  take(key: string): number | Promise<number>;
}

/** A store that an application opens and closes. */
export interface ManagedRateStore extends RateStore {
  /**
   * Makes it ready before the first call.
   *
   * @throws ConfigError when it cannot be used as it is configured
   */
  start(): Promise<void>;
  /** Lets go of what it holds. */
  close(): Promise<void>;
}

/**
 * Counts calls by client.
 *
 * @see docs/protocol.md 9.2
 */
export interface RateStore {
  /**
   * Counts a call of a client if the client is within the rate.
   *
   * @param key the client's key, see `clientKey`
   * @returns 0 if the call was counted; otherwise the seconds until the client's next call is accepted
   */
  take(key: string): number | Promise<number>;
}

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

/** How long an upload may bring nothing, in milliseconds. @see docs/protocol.md 2.7 */
export const MAX_SILENCE_MS = 30_000;

/** The time over which the rate of an upload is averaged, in milliseconds. */
export const RATE_WINDOW_MS = 60_000;

/** The minimum rate of an upload, in bytes per second. @see docs/protocol.md 2.7 */
export const MIN_BYTES_PER_SECOND = 4 * 1024;

/** The bytes that must arrive in a window. */
const MIN_WINDOW_BYTES = (MIN_BYTES_PER_SECOND * RATE_WINDOW_MS) / 1000;

/**
 * Decides whether an upload is too slow: nothing for 30 s, or less than 4 KiB/s on average over a minute. Only the time
 * in which the server waits for the client counts, and not the time that it takes to store what has arrived.
 *
 * It has no clock and no timer: the caller measures.
 */
export class UploadPace {
  #windowMs = 0;
  #windowBytes = 0;

  /** Returns how long to wait for the next bytes, in milliseconds, before the upload is too slow. */
  get maxWaitMs(): number {
    const isBehind = this.#windowBytes < MIN_WINDOW_BYTES;
    return isBehind ? Math.min(MAX_SILENCE_MS, Math.max(0, RATE_WINDOW_MS - this.#windowMs)) : MAX_SILENCE_MS;
  }

  /** Counts bytes that have arrived after a wait. Returns `false` if the upload is too slow. */
  received(bytes: number, waitedMs: number): boolean {
    this.#windowMs += waitedMs;
    this.#windowBytes += bytes;
    if (this.#windowMs < RATE_WINDOW_MS) return true;
    const isFastEnough = this.#windowBytes >= MIN_WINDOW_BYTES;
    this.#windowMs = 0;
    this.#windowBytes = 0;
    return isFastEnough;
  }
}

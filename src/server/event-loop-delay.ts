/** How often the delay is measured. A measurement misses this much of a delay at most. */
const INTERVAL_MS = 100;

/** How long {@link EventLoopDelay.readMaximum} remembers a delay, in seconds. */
const REMEMBERED_SECONDS = 60;

/** One slot for each remembered second, and one for the current second. */
const SLOTS = REMEMBERED_SECONDS + 1;

/**
 * Measures by how much the event loop delays a timer. The first reading starts the measurement, so that it costs nothing
 * where nobody reads it.
 */
export class EventLoopDelay {
  #timer: NodeJS.Timeout | undefined;
  #expectedAtMs = 0;
  /** The longest delay that was measured in each of the last seconds, by the second modulo {@link SLOTS}. */
  readonly #maxima = new Float64Array(SLOTS);
  #currentSecond = 0;

  /** Returns the longest delay of the last second in milliseconds, that of a timer that is late now included. */
  read(): number {
    return this.#longest(1);
  }

  /**
   * Returns the longest delay of the last 60 seconds in milliseconds, that of a timer that is late now included. Reading
   * resets nothing, so that several readers get the same value.
   */
  readMaximum(): number {
    return this.#longest(REMEMBERED_SECONDS);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #longest(seconds: number): number {
    this.#timer ??= this.#start();
    const nowMs = performance.now();
    this.#advanceTo(nowMs);
    let longest = Math.max(0, nowMs - this.#expectedAtMs);
    for (let age = 0; age <= seconds; age++) {
      longest = Math.max(longest, this.#maxima[(this.#currentSecond - age + SLOTS) % SLOTS] ?? 0);
    }
    return longest;
  }

  #start(): NodeJS.Timeout {
    const nowMs = performance.now();
    this.#maxima.fill(0);
    this.#currentSecond = Math.floor(nowMs / 1_000);
    this.#expectedAtMs = nowMs + INTERVAL_MS;
    return setInterval(() => this.#measure(), INTERVAL_MS).unref();
  }

  #measure(): void {
    const nowMs = performance.now();
    this.#advanceTo(nowMs);
    const slot = this.#currentSecond % SLOTS;
    this.#maxima[slot] = Math.max(this.#maxima[slot] ?? 0, nowMs - this.#expectedAtMs);
    this.#expectedAtMs = nowMs + INTERVAL_MS;
  }

  /** Empties the slots of the seconds that have begun since the last call. */
  #advanceTo(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000);
    const begun = Math.min(SLOTS, second - this.#currentSecond);
    for (let age = 0; age < begun; age++) this.#maxima[(second - age + SLOTS) % SLOTS] = 0;
    this.#currentSecond = second;
  }
}

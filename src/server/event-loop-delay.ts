/** How often the delay is measured. */
const INTERVAL_MS = 1_000;

/**
 * Measures by how much the event loop delays a timer. The first reading starts the measurement, so that it costs nothing
 * where nobody reads it.
 */
export class EventLoopDelay {
  #timer: NodeJS.Timeout | undefined;
  #expectedAtMs = 0;
  #lastDelayMs = 0;

  /** Returns the current delay in milliseconds: that of the last timer, or of the next one if it is late already. */
  read(): number {
    this.#timer ??= this.#start();
    return Math.max(0, this.#lastDelayMs, performance.now() - this.#expectedAtMs);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #start(): NodeJS.Timeout {
    this.#expectNext();
    return setInterval(() => {
      this.#lastDelayMs = performance.now() - this.#expectedAtMs;
      this.#expectNext();
    }, INTERVAL_MS).unref();
  }

  #expectNext(): void {
    this.#expectedAtMs = performance.now() + INTERVAL_MS;
  }
}

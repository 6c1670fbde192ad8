/** How long a stream may go on before others have their turn. */
const MOST_MS = 2;

/**
 * Gives way to whatever else the process has to do.
 *
 * A generator that waits for nothing, read by a client as fast as it writes, would otherwise go on
 * within one turn of the event loop, and for as long no other request would be looked at.
 */
export class Turns {
  #began = performance.now();

  /** Waits for the next turn of the event loop, where this one has taken long enough. */
  async give(): Promise<void> {
    if (performance.now() - this.#began < MOST_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#began = performance.now();
  }
}

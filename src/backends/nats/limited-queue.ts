/** Runs requests, a number of them at a time. */
export class LimitedQueue {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async add<T>(request: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await request();
    } finally {
      const next = this.#waiting.shift();
      if (next)
        next(); // it runs in place of this one
      else this.#running--;
    }
  }
}

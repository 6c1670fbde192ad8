import type { IncomingMessage, ServerResponse } from "node:http";

/** The status with which Vite responds to a request for a module while it closes, before a restart. */
const OUTDATED = { status: 504, message: "Outdated Request" } as const;

/**
 * The restarts of Vite, one after the other. A request for a module during a restart is served after it: with the response of the Vite that
 * closes, a page would stay without its scripts, and without the one that reloads it.
 */
export class Restarts {
  #count = 0;
  #running: Promise<void> | undefined;
  #isRequested = false;
  #startedAt = Date.now();

  /** When the last restart was started, in milliseconds since the epoch; without one, when this was created. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /**
   * Restarts Vite. During a restart, it restarts once more afterwards, however often this is called: the restart may have
   * read the config before the edit.
   *
   * @param restart restarts Vite once. It is never called before its previous call has ended
   * @returns a promise that settles when no restart follows. It rejects with the error of a restart
   */
  run(restart: () => Promise<void>): Promise<void> {
    this.#count++;
    this.#isRequested = true;
    this.#running ??= this.#restartUntilCurrent(restart);
    return this.#running;
  }

  async #restartUntilCurrent(restart: () => Promise<void>): Promise<void> {
    try {
      while (this.#isRequested) {
        this.#isRequested = false;
        this.#startedAt = Date.now();
        await restart();
      }
    } finally {
      this.#isRequested = false;
      this.#running = undefined;
    }
  }

  /** Resolves when no restart is running. */
  async finished(): Promise<void> {
    await this.#running?.catch(() => undefined); // the caller that restarts Vite receives the error
  }

  /**
   * Serves a request without a body, and once more after a restart if Vite was closing.
   *
   * @param serve passes the request to Vite
   */
  serve(request: IncomingMessage, response: ServerResponse, serve: () => void): void {
    const { url = "/" } = request;
    const countBefore = this.#count;
    const { end } = response;
    const endOrRepeat = (...input: Parameters<typeof end>): ServerResponse => {
      response.end = end;
      const isOutdated = response.statusCode === OUTDATED.status && response.statusMessage === OUTDATED.message;
      const isRestarted = this.#running !== undefined || this.#count !== countBefore;
      if (!isOutdated || !isRestarted || response.headersSent) return response.end(...input);
      Object.assign(response, { statusCode: 200, statusMessage: "" });
      Object.assign(request, { url, originalUrl: undefined }); // Vite has removed its base
      void this.finished().then(() => this.serve(request, response, serve));
      return response;
    };
    response.end = endOrRepeat as typeof end; // its overloads
    serve();
  }
}

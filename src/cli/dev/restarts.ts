import type { IncomingMessage, ServerResponse } from "node:http";

/** The status with which Vite responds to a request for a module while it closes, before a restart. */
const OUTDATED = { status: 504, message: "Outdated Request" } as const;

/**
 * The restarts of Vite. A request for a module during a restart is served after it: with the response of the Vite that
 * closes, a page would stay without its scripts, and without the one that reloads it.
 */
export class Restarts {
  #count = 0;
  #running: Promise<unknown> | undefined;

  /** Marks a restart as running until its promise settles. */
  track(restart: Promise<unknown>): void {
    this.#count++;
    const finished = restart
      .catch(() => undefined) // the caller that restarts Vite receives the error
      .then(() => {
        if (this.#running === finished) this.#running = undefined;
      });
    this.#running = finished;
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
      void (this.#running ?? Promise.resolve()).then(() => this.serve(request, response, serve));
      return response;
    };
    response.end = endOrRepeat as typeof end; // its overloads
    serve();
  }
}

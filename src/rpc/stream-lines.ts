import { isDisconnection, Redirect, type RequestContext } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { chunkLine, DONE_LINE, errorLine, toJson } from "../protocol/index.ts";
import { callerErrorOfFunction, errorJson } from "./caller-error.ts";

/** One line of a stream's body, without its line break. */
export interface Line {
  readonly text: string;
  readonly isLast: boolean;
  /** The redirect with which the function ended before its first value. Headers can carry it, lines cannot. */
  readonly redirect?: Redirect;
}

/** Ends a stream that has no reader any more. */
const EMPTY_LAST_LINE: Line = { text: "", isLast: true };

const LAST_LINE: Line = { text: DONE_LINE, isLast: true };

/** The result of a streaming function. */
export type AnyGenerator = AsyncGenerator<unknown> | Generator<unknown>;

/** Runs the generator of a streaming call and returns its values as lines. */
export class StreamLines {
  readonly #context: RequestContext;
  readonly #log: Logger;
  readonly #name: string;
  #generator: AnyGenerator | undefined;
  #pendingStep: unknown;
  #isClosed = false;
  #hasValues = false;

  /** @param name the function's name, for log lines */
  constructor(context: RequestContext, log: Logger, name: string) {
    this.#context = context;
    this.#log = log;
    this.#name = name;
  }

  /**
   * Runs the generator to its next `yield` and returns the line for it. It does not throw: an error becomes the last
   * line.
   *
   * @param start returns the generator; called once
   */
  async next(start: () => AnyGenerator): Promise<Line> {
    if (this.#isClosed) return EMPTY_LAST_LINE;
    try {
      this.#generator ??= start(); // evaluates default values of parameters, which may throw
      const pending = this.#generator.next();
      this.#pendingStep = pending;
      const step = await pending;
      if (this.#isClosed) return EMPTY_LAST_LINE;
      if (step.done) return step.value instanceof Redirect ? this.#redirectLine(step.value) : LAST_LINE;
      const text = chunkLine(toJson(await step.value));
      this.#hasValues = true;
      return { text, isLast: false };
    } catch (error) {
      await this.close();
      if (error instanceof Redirect) return this.#redirectLine(error);
      return { text: this.#lastLine(error), isLast: true };
    }
  }

  #redirectLine(redirect: Redirect): Line {
    if (!this.#hasValues) return { ...LAST_LINE, redirect };
    const error = new Error(
      `${this.#name} redirected to ${JSON.stringify(redirect.location)} after its first value, when the headers of the ` +
        "response had been sent. Redirect before the first yield, or yield the path and open it in the view.",
    );
    return { text: this.#lastLine(error), isLast: true };
  }

  #lastLine(error: unknown): string {
    const context = this.#context;
    const log = this.#log;
    if (isDisconnection(context, error)) {
      // The client's disconnect aborted what the function was awaiting. This is not a failure of the function.
      log.info({ id: context.id, err: error }, `The stream of ${this.#name} ended: its client disconnected`);
      return "";
    }
    return errorLine(
      errorJson(callerErrorOfFunction(error, context, log, `The stream of ${this.#name}`), context, log),
    );
  }

  /** Ends the generator, so that its `finally` runs. An error from there is logged, because no caller is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // If `return()` is called during a step, Deno runs the rest of the generator outside the request's context.
    await Promise.resolve(this.#pendingStep).catch(() => undefined); // `next` handles an error of the step
    try {
      await this.#generator?.return(undefined);
    } catch (error) {
      this.#log.error({ id: this.#context.id, err: error }, `The stream of ${this.#name} failed while it was closed`);
    }
  }
}

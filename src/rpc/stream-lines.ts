import type { RPCError } from "../errors.ts";
import { isAbortError, isDisconnection, Redirect, type RequestContext } from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { chunkLine, DONE_LINE, errorLine, toJson } from "../protocol/index.ts";
import { callerErrorOfFunction, errorJson, showInDevelopment } from "./caller-error.ts";
import type { FunctionDefinition } from "./server.ts";

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

/** The settings of the application that the lines of its streams depend on. */
interface StreamSettings {
  readonly log: AppLog;
  /** Whether the caller receives the message of a value that cannot be sent. */
  readonly development?: true | undefined;
}

/** Runs the generator of a streaming call and returns its values as lines. */
export class StreamLines {
  readonly #context: RequestContext;
  readonly #definition: FunctionDefinition;
  readonly #settings: StreamSettings;
  #generator: AnyGenerator | undefined;
  #pendingStep: unknown;
  #resolveNext: ((line: Line) => void) | undefined;
  /** The last line, if the stream was ended from outside. */
  #end: Line | undefined;
  #isClosed = false;
  #hasValues = false;
  /** Whether the last line has been returned. */
  #hasEnded = false;
  #isDisconnectionLogged = false;

  constructor(context: RequestContext, definition: FunctionDefinition, settings: StreamSettings) {
    this.#context = context;
    this.#definition = definition;
    this.#settings = settings;
  }

  get #name(): string {
    return this.#definition.signature.name;
  }

  /**
   * Runs the generator to its next `yield` and returns the line for it, or {@link endWith}'s as soon as that was called.
   * It does not throw: an error becomes the last line.
   *
   * @param start returns the generator; called once
   */
  next(start: () => AnyGenerator): Promise<Line> {
    if (this.#end) return Promise.resolve(this.#end);
    return new Promise((resolve) => {
      this.#resolveNext = resolve;
      void this.#runStep(start).then((line) => {
        this.#hasEnded ||= line.isLast;
        resolve(line);
      }); // never rejects
    });
  }

  /** Makes an error the last line, in place of the next value. The caller then closes the generator. */
  endWith(error: RPCError): void {
    const { log } = this.#settings;
    this.#end = { text: errorLine(errorJson(error, this.#context, log)), isLast: true };
    this.#resolveNext?.(this.#end);
  }

  async #runStep(start: () => AnyGenerator): Promise<Line> {
    if (this.#isClosed) return EMPTY_LAST_LINE;
    try {
      this.#generator ??= start(); // evaluates default values of parameters, which may throw
      const pending = this.#generator.next();
      this.#pendingStep = pending;
      const step = await pending;
      if (this.#isClosed) return EMPTY_LAST_LINE;
      if (step.done) return step.value instanceof Redirect ? this.#redirectLine(step.value) : LAST_LINE;
      const text = chunkLine(toJson(await step.value, this.#definition.serialization));
      this.#hasValues = true;
      return { text, isLast: false };
    } catch (error) {
      if (this.#end) return this.#end; // the error is a consequence of the end
      await this.close();
      if (error instanceof Redirect) return this.#redirectLine(error);
      return { text: this.#lastLine(error), isLast: true };
    }
  }

  #redirectLine(redirect: Redirect): Line {
    const { headersSent } = this.#context;
    if (!this.#hasValues && !headersSent) return { ...LAST_LINE, redirect };
    const error = new Error(
      `${this.#name} redirected to ${JSON.stringify(redirect.location)} after its first value, or later than the time ` +
        "after which the headers of the response are sent without one. Redirect before the first yield, or yield the " +
        "path and open it in the view.",
    );
    return { text: this.#lastLine(error), isLast: true };
  }

  #lastLine(error: unknown): string {
    const context = this.#context;
    const { log } = this.#settings;
    if (isDisconnection(context, error)) {
      // The client's disconnect aborted what the function was awaiting. This is not a failure of the function.
      this.#logDisconnection();
      return "";
    }
    const forCaller = callerErrorOfFunction(error, context, log, `The stream of ${this.#name}`);
    return errorLine(errorJson(showInDevelopment(error, forCaller, this.#settings), context, log));
  }

  /** Ends the generator because its client has disconnected. This is logged once, unless the stream had ended before. */
  disconnect(): Promise<void> {
    if (!this.#hasEnded && !this.#isClosed && !this.#end) this.#logDisconnection();
    return this.close();
  }

  #logDisconnection(): void {
    if (this.#isDisconnectionLogged) return;
    this.#isDisconnectionLogged = true;
    this.#settings.log.info({ id: this.#context.id }, `The stream of ${this.#name} ended: its client disconnected`);
  }

  /**
   * Ends the generator, so that its `finally` runs. An error from there is logged, because no caller is left, unless the
   * aborted `request.signal` has caused it: closing a response that the signal has aborted throws the reason of the signal.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    // If `return()` is called during a step, Deno runs the rest of the generator outside the request's context.
    await Promise.resolve(this.#pendingStep).catch(() => undefined); // `next` handles an error of the step
    try {
      await this.#generator?.return(undefined);
    } catch (error) {
      if (isAbortError(error, this.#context.signal)) return;
      this.#settings.log.error(
        { id: this.#context.id, err: error },
        `The stream of ${this.#name} failed while it was closed`,
      );
    }
  }
}

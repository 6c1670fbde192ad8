import { RPCError } from "../errors.ts";
import {
  type HandlerResponse,
  isAbortError,
  isDisconnection,
  PRIVATE_NO_CACHE,
  Redirect,
  type RequestContext,
  redirectTarget,
  runInContext,
} from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { chunkLine, DONE_LINE, errorLine, NDJSON_TYPE, toJson } from "../protocol/index.ts";
import { hasSessionEnded, renewIdentity, watchSession } from "../session/index.ts";
import { callerErrorOfFunction, errorJson, showInDevelopment } from "./caller-error.ts";
import { redirectHeader } from "./run-function.ts";
import type { FunctionDefinition } from "./server.ts";

/** A streaming call. */
export interface StreamCall {
  readonly args: readonly unknown[];
  /** The application's base, which is prepended to redirects. */
  readonly base: string;
  readonly log: AppLog;
  /** Whether the caller receives the message of a value that cannot be sent. */
  readonly development?: true | undefined;
  /** Called when the stream has ended or its client has disconnected, possibly more than once. */
  readonly release: () => void;
}

/** How long a client waits for a value before it receives a space, or the headers of the response, in milliseconds. */
const IDLE_MS = 15_000;

/**
 * Handles a streaming call: one line for each value, pulled by the client, then `done` or `error`.
 *
 * The headers are sent with the first line, so that the generator can sign the user in, or redirect, before its first
 * `yield`; without a line, they are sent after {@link IDLE_MS}. Then, and every {@link IDLE_MS} without a line, the client
 * receives a space, so that no proxy takes the response for one that hangs. The generator runs at most one step ahead of
 * what the host takes. When the client disconnects, its `return()` is called: the generator ends at its current or its
 * next `yield`.
 *
 * @see docs/protocol.md 6.2
 */
export async function handleStream(
  context: RequestContext,
  definition: FunctionDefinition,
  { args, base, log, release, development }: StreamCall,
): Promise<HandlerResponse> {
  const renewing = renewIdentity(context);
  if (renewing) await renewing;
  const lines = new StreamLines(context, definition, { log, development });
  const start = () => definition.run(...args) as AnyGenerator; // a function with `stream` in its signature returns one
  const stop = new AbortController();
  context.setTimeoutSignal(stop.signal);
  const onSessionEnded = () => {
    lines.endWith(SIGNED_OUT);
    stop.abort(SIGNED_OUT);
    void end(() => lines.close());
  };
  const unwatch = watchSession(context, onSessionEnded);
  const releaseAll = () => {
    release();
    unwatch();
  };
  const next = async () => {
    const line = await runInContext(context, () => lines.next(start));
    if (line.isLast) {
      releaseAll();
      context.hasEnded = true;
    }
    return line;
  };
  const waiting = new IdleWait(next);
  const end = (close: () => Promise<void>) => {
    // Released at once: a generator that never reaches its next `yield` must not use up its client's limit.
    releaseAll();
    waiting.stop();
    return runInContext(context, close).finally(() => {
      context.hasEnded = true;
    });
  };
  const disconnect = () => end(() => lines.disconnect());
  // Until the first line there is no body that could be cancelled, and some hosts never cancel a body.
  const { signal } = context.inbound;
  signal.addEventListener("abort", () => void disconnect(), { once: true });
  if (hasSessionEnded(context)) onSessionEnded(); // while the body arrived, or a schema ran
  if (signal.aborted) void disconnect(); // an aborted signal does not fire the event again
  let first: { readonly line: Line | null } | undefined = { line: await waiting.next() };
  const target = redirectTarget(first.line?.redirect, base);
  context.headersSent ||= first.line === null; // what the generator does from now on is too late for them
  if (context.unavailable) await end(() => lines.close()); // the response is replaced, so nobody cancels its body

  const yieldToEventLoop = eventLoopYielder();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await yieldToEventLoop();
        const line = first ? first.line : await waiting.next();
        first = undefined;
        controller.enqueue(encoder.encode(line ? `${line.text}\n` : " "));
        if (line?.isLast) controller.close();
      },
      cancel: disconnect,
    },
    { highWaterMark: 0 },
  );
  return {
    status: 200,
    headers: {
      "content-type": NDJSON_TYPE,
      "x-accel-buffering": "no",
      ...PRIVATE_NO_CACHE,
      ...(target && redirectHeader(target)),
    },
    body,
  };
}

/** Waits for the lines of a stream, for {@link IDLE_MS} at a time. */
class IdleWait {
  readonly #next: () => Promise<Line>;
  #isPending = false;
  #line: Line | null = null;
  #timer: NodeJS.Timeout | undefined;
  #onLine: (() => void) | undefined;

  /** @param next resolves with the next line; it never rejects */
  constructor(next: () => Promise<Line>) {
    this.#next = next;
  }

  /** Resolves with the next line, or with `null` if there was none for {@link IDLE_MS}: call it again for the same line. */
  next(): Promise<Line | null> {
    if (!this.#isPending) {
      this.#isPending = true;
      void this.#next().then((line) => {
        this.#line = line;
        this.#onLine?.();
      });
    }
    return new Promise((resolve) => {
      const settle = () => {
        this.stop();
        this.#onLine = undefined;
        if (this.#line) this.#isPending = false;
        resolve(this.#line);
        this.#line = null;
      };
      if (this.#line) return settle(); // it came after the last wait
      this.#onLine = settle;
      this.#timer = setTimeout(settle, IDLE_MS);
    });
  }

  /** Does not wait any longer than for the line. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** The error with which a stream ends whose session has been revoked or has expired since its request began. */
const SIGNED_OUT = new RPCError("unauthenticated", "You were signed out.");

/** How long a stream may run before it yields to the event loop, in milliseconds. */
const MAX_RUN_MS = 2;

/**
 * Returns a function that yields to the event loop if 2 ms have passed since it last did.
 *
 * Without it, a generator that awaits no I/O, read by a client as fast as it writes, would run in microtasks alone
 * and block all other requests.
 *
 * @see docs/protocol.md 6.3
 */
function eventLoopYielder(): () => Promise<void> {
  let startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < MAX_RUN_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    startedAt = performance.now();
  };
}

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
export type AnyGenerator = AsyncGenerator | Generator;

/** The settings of the application that the lines of its streams depend on. */
interface StreamSettings {
  readonly log: AppLog;
  /** Whether the caller receives the message of a value that cannot be sent. */
  readonly development?: true | undefined;
}

/** Runs the generator of a streaming call and returns its values as lines. */
class StreamLines {
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

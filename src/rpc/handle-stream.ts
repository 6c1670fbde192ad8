import { RPCError } from "../errors.ts";
import {
  type HandlerResponse,
  PRIVATE_NO_CACHE,
  type RequestContext,
  redirectTarget,
  runInContext,
} from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { NDJSON_TYPE } from "../protocol/index.ts";
import { hasSessionEnded, renewIdentity, watchSession } from "../session/index.ts";
import { redirectHeader } from "./run-function.ts";
import type { FunctionDefinition } from "./server.ts";
import { type AnyGenerator, type Line, StreamLines } from "./stream-lines.ts";

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

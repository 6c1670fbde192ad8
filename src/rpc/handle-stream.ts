import { RPCError } from "../errors.ts";
import type { HandlerResponse, RequestContext } from "../http/index.ts";
import { PRIVATE_NO_STORE, redirectTarget, runInContext } from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { NDJSON_TYPE } from "../protocol/index.ts";
import { watchSession } from "../session/index.ts";
import { redirectHeader } from "./call-redirect.ts";
import type { FunctionDefinition } from "./server.ts";
import { type AnyGenerator, type Line, StreamLines } from "./stream-lines.ts";
import { eventLoopYielder } from "./yield-to-event-loop.ts";

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

/**
 * Handles a streaming call: one line for each value, pulled by the client, then `done` or `error`.
 *
 * The headers are sent with the first line, so that the generator can sign the user in, or redirect, before its first
 * `yield`. The generator runs at most one step ahead of the socket. When the client disconnects, its `return()` is called: the
 * generator ends at its current or its next `yield`.
 *
 * @see docs/protocol.md 6.2
 */
export async function handleStream(
  context: RequestContext,
  definition: FunctionDefinition,
  { args, base, log, release, development }: StreamCall,
): Promise<HandlerResponse> {
  const lines = new StreamLines(context, definition, { log, development });
  const start = () => definition.run(...args) as AnyGenerator; // a function with `stream` in its signature returns one
  const stop = new AbortController();
  context.setTimeoutSignal(stop.signal);
  const unwatch = watchSession(context, () => {
    lines.endWith(SIGNED_OUT);
    stop.abort(SIGNED_OUT);
    void end();
  });
  const releaseAll = () => {
    release();
    unwatch();
  };
  const next = async () => {
    const line = await runInContext(context, () => lines.next(start));
    if (line.isLast) releaseAll();
    return line;
  };
  const end = () => {
    // Released at once: a generator that never reaches its next `yield` must not use up its client's limit.
    releaseAll();
    return runInContext(context, () => lines.close());
  };
  // Until the first line there is no body that could be cancelled, and some hosts never cancel a body.
  const { signal } = context.inbound;
  signal.addEventListener("abort", () => void end(), { once: true });
  if (signal.aborted) void end(); // an aborted signal does not fire the event again
  let firstLine: Line | undefined = await next();
  if (context.unavailable) await end(); // the response is replaced, so nobody cancels its body
  const target = redirectTarget(firstLine.redirect, base);

  const yieldToEventLoop = eventLoopYielder();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await yieldToEventLoop();
        const line: Line = firstLine ?? (await next());
        firstLine = undefined;
        controller.enqueue(encoder.encode(`${line.text}\n`));
        if (line.isLast) controller.close();
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
  return {
    status: 200,
    headers: {
      "content-type": NDJSON_TYPE,
      "x-accel-buffering": "no",
      ...PRIVATE_NO_STORE,
      ...(target && redirectHeader(target)),
    },
    body,
  };
}

/** The error with which the streams of a user end who was signed out everywhere. */
const SIGNED_OUT = new RPCError("unauthenticated", "You were signed out.");

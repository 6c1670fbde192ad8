import type { Reply, RequestContext } from "../http/index.ts";
import { PRIVATE, runInContext } from "../http/index.ts";
import type { Log } from "../logging/index.ts";
import { toJson } from "../protocol/index.ts";
import { errorJson, functionFailureOf } from "./failure.ts";
import type { Definition } from "./server.ts";
import { Turns } from "./turns.ts";

/** The line that is next, and whether it is the last. */
interface Line {
  readonly text: string;
  readonly last: boolean;
}

/** The last line of a stream that nobody reads any more. */
const NOTHING: Line = { text: "", last: true };

/** What a streaming call has beside its request and its function. */
export interface StreamCall {
  readonly args: readonly unknown[];
  readonly log: Log;
  /** Called once the stream is over, or its reader has gone; perhaps more than once. */
  readonly release: () => void;
}

/**
 * Answers a streaming call: one line for each value, pulled by the reader, then `done` or `error`.
 *
 * The headers leave with the first line, so that the generator may still sign the visitor in
 * before its first `yield`. The generator runs at most one step ahead of the socket. When the
 * reader goes away its `return()` is called: a `yield` it stands at, or comes to, is its last.
 *
 * @see the interface, "Streaming lines"
 */
export async function answerStream(
  context: RequestContext,
  definition: Definition,
  { args, log, release }: StreamCall,
): Promise<Reply> {
  const steps = new Steps(context, log, definition.signature.name);
  const start = () => definition.run(...args) as AnyGenerator; // what has a stream's signature gives one
  const next = async () => {
    const line = await runInContext(context, () => steps.next(start));
    if (line.last) release();
    return line;
  };
  const end = () => {
    // At once: a generator that never comes to its next `yield` must not shut its visitor out.
    release();
    return runInContext(context, () => steps.close());
  };
  // Before the first line there is no body yet that could be cancelled, and not every host cancels one.
  const { signal } = context.raw;
  signal.addEventListener("abort", () => void end(), { once: true });
  if (signal.aborted) void end(); // who had gone before is not told of again
  let ahead: Line | undefined = await next();

  const turns = new Turns();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await turns.give();
        const line: Line = ahead ?? (await next());
        ahead = undefined;
        controller.enqueue(encoder.encode(`${line.text}\n`));
        if (line.last) controller.close();
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
  return {
    status: 200,
    headers: { "content-type": "application/x-ndjson", "x-accel-buffering": "no", ...PRIVATE },
    body,
  };
}

type AnyGenerator = AsyncGenerator<unknown> | Generator<unknown>;

/** A generator, step by step, as the lines that tell of it. */
class Steps {
  readonly #context: RequestContext;
  readonly #log: Log;
  readonly #name: string;
  #generator: AnyGenerator | undefined;
  #step: unknown;
  #isClosed = false;

  constructor(context: RequestContext, log: Log, name: string) {
    this.#context = context;
    this.#log = log;
    this.#name = name;
  }

  async next(start: () => AnyGenerator): Promise<Line> {
    if (this.#isClosed) return NOTHING;
    try {
      this.#generator ??= start(); // defaults of its parameters are made here, and may throw
      const underWay = this.#generator.next();
      this.#step = underWay;
      const step = await underWay;
      if (this.#isClosed) return NOTHING;
      if (step.done) return { text: '{"done":true}', last: true };
      return { text: `{"chunk":${toJson(await step.value)}}`, last: false };
    } catch (error) {
      await this.close();
      return { text: this.#lastWords(error), last: true };
    }
  }

  #lastWords(error: unknown): string {
    const context = this.#context;
    const log = this.#log;
    if (context.signal.aborted) {
      // What was waited for ended because the caller had gone: no failure of the function, and nobody to tell.
      log.info({ id: context.id, err: error }, `The stream of ${this.#name} ended, its caller had gone`);
      return "";
    }
    const failure = functionFailureOf(error, context, log, `The stream of ${this.#name}`);
    return `{"error":${errorJson(failure, context, log)}}`;
  }

  /** Ends the generator: its `finally` runs. What that throws has no caller left, so it goes to the log. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // Asked to return in the middle of a step, Deno runs what is left of the generator outside the request.
    await Promise.resolve(this.#step).catch(() => undefined); // what a step throws, `next` tells
    try {
      await this.#generator?.return(undefined);
    } catch (error) {
      this.#log.error({ id: this.#context.id, err: error }, `The stream of ${this.#name} failed while it was closed`);
    }
  }
}

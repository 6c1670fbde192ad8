import type { Reply, RequestContext } from "../http/index.ts";
import { PRIVATE, runInContext } from "../http/index.ts";
import type { Log } from "../log.ts";
import { toJson } from "../serialize.ts";
import { errorJson, functionFailureOf } from "./failure.ts";
import type { Definition } from "./server.ts";

/** The line that is next, and whether it is the last. */
interface Line {
  readonly text: string;
  readonly last: boolean;
}

/**
 * Answers a streaming call: one line for each value, pulled by the reader, then `done` or `error`.
 *
 * The headers leave with the first line, so that the generator may still sign the visitor in
 * before its first `yield`. The generator runs at most one step ahead of the socket. When the
 * reader goes away its `return()` is called.
 *
 * @see the interface, "Streaming lines"
 */
export async function answerStream(
  context: RequestContext,
  { run, signature }: Definition,
  args: unknown[],
  log: Log,
): Promise<Reply> {
  // The overloads of `server()` and the compile step agree that this one is a generator.
  const generator = run(...args) as AsyncGenerator<unknown> | Generator<unknown>;
  const next = () => runInContext(context, () => nextLine(generator, context, log, signature.name));
  let ahead: Line | undefined = await next();

  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const line: Line = ahead ?? (await next());
        ahead = undefined;
        controller.enqueue(encoder.encode(`${line.text}\n`));
        if (line.last) controller.close();
      },
      cancel: () => runInContext(context, () => close(generator, context, log, signature.name)),
    },
    { highWaterMark: 0 },
  );
  return {
    status: 200,
    headers: { "content-type": "application/x-ndjson", "x-accel-buffering": "no", ...PRIVATE },
    body,
  };
}

async function nextLine(
  generator: AsyncGenerator<unknown> | Generator<unknown>,
  context: RequestContext,
  log: Log,
  name: string,
): Promise<Line> {
  try {
    const step = await generator.next();
    if (step.done) return { text: '{"done":true}', last: true };
    return { text: `{"chunk":${toJson(await step.value)}}`, last: false };
  } catch (error) {
    await close(generator, context, log, name);
    if (context.signal.aborted) {
      // What was waited for ended because the caller had gone: no failure of the function, and nobody to tell.
      log.info({ id: context.id, err: error }, `The stream of ${name} ended, its caller had gone`);
      return { text: "", last: true };
    }
    const failure = functionFailureOf(error, context, log, `The stream of ${name}`);
    return { text: `{"error":${errorJson(failure, context, log)}}`, last: true };
  }
}

/** Ends a generator: its `finally` runs. What that throws has no caller left, so it goes to the log. */
async function close(
  generator: AsyncGenerator<unknown> | Generator<unknown>,
  context: RequestContext,
  log: Log,
  name: string,
): Promise<void> {
  try {
    await generator.return(undefined);
  } catch (error) {
    log.error({ id: context.id, err: error }, `The stream of ${name} failed while it was closed`);
  }
}

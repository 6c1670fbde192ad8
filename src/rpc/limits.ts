import { adviseMaxBody, MAX_BODY_BYTES, type RequestContext, RequestError } from "../http/index.ts";
import type { FunctionDefinition } from "./server.ts";

/**
 * Runs a call with a time limit. When the limit is exceeded, the caller receives `timeout` at once and
 * `request.signal` aborts, so that the function can stop early. Its later result or error is dropped, and the cookies
 * that it has set are discarded.
 *
 * A function that blocks the event loop also delays the timer. Its result or error is dropped too if it took as long as
 * the limit.
 *
 * @param seconds the limit; `undefined` for none
 * @returns without a limit the result of `run` as it is, a promise or not
 * @throws RequestError `timeout`
 * @see docs/protocol.md 3.6
 */
export function withTimeLimit<T>(
  context: RequestContext,
  seconds: number | undefined,
  run: () => T,
): T | Promise<Awaited<T>> {
  return seconds === undefined ? run() : withTimeout(context, seconds, run);
}

async function withTimeout<T>(context: RequestContext, seconds: number, run: () => T): Promise<Awaited<T>> {
  const controller = new AbortController();
  context.setTimeoutSignal(controller.signal);
  const deadline = performance.now() + seconds * 1000;
  let isExpired = false;
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      isExpired = true;
      reject(); // the error is created below
    }, seconds * 1000);
  });
  // The timer is late if the function blocks the event loop, and it may be a millisecond early.
  const isOver = () => isExpired || performance.now() >= deadline;
  try {
    // `race` handles the rejection of the losing promise, so it is not reported as unhandled.
    const result = await Promise.race([Promise.resolve().then(run), expired]);
    if (!isOver()) return result;
  } catch (error) {
    if (!isOver()) throw error;
  } finally {
    clearTimeout(timer);
  }
  const error = new RequestError("timeout", `The call exceeded its time limit of ${seconds} s.`);
  context.discardChanges();
  context.headersSent = true; // the function may still run, and must not change the response any more
  controller.abort(error);
  throw error;
}

/** The maximum delay of a timer, in seconds. With a longer delay, `setTimeout` fires at once. */
const MAX_SECONDS = 2 ** 31 / 1000 - 1;

/**
 * Checks the option `rpc_timeout`.
 *
 * @param location the call that has the option, for the error message: `new App`
 * @throws RangeError if it is not a number of seconds in range
 */
export function checkTimeLimit(seconds: unknown, location: string): asserts seconds is number | undefined {
  if (seconds === undefined) return;
  if (typeof seconds === "number" && seconds > 0 && seconds <= MAX_SECONDS) return;
  throw new RangeError(
    `${location}: rpc_timeout is ${String(seconds)}. It must be a number of seconds above 0 and at most ${MAX_SECONDS}.`,
  );
}

/**
 * Returns the maximum size of a form or a call with files, in bytes.
 *
 * @param fallback the maximum of the application, if it has one
 */
export function maxFormBody({ options }: FunctionDefinition, fallback?: number): number {
  return options.max_body ?? fallback ?? MAX_BODY_BYTES;
}

/**
 * Returns the maximum size of a call's JSON, in bytes. It is held in memory: the maximum of a function that takes files is
 * meant for the files, and does not raise it.
 *
 * @param fallback the maximum of the application, if it has one
 */
export function maxCallBody(definition: FunctionDefinition, fallback?: number): number {
  const max = maxFormBody(definition, fallback);
  return takesFiles(definition) ? Math.min(max, MAX_BODY_BYTES) : max;
}

/**
 * Adds to the error for a body over the maximum of a function, in development, how to raise it. Other errors stay as they
 * are, and so do those about a body that the option does not raise: the JSON of a call with files, the texts of a form.
 *
 * @param kind whether the body is the JSON of a call or a form
 * @param fallback the maximum of the application, if it has one
 */
export function adviseOfMaxBody(
  error: unknown,
  context: RequestContext,
  definition: FunctionDefinition,
  { kind, fallback }: { readonly kind: "call" | "form"; readonly fallback: number | undefined },
): void {
  if (takesFiles(definition) !== (kind === "form")) return;
  adviseMaxBody(error, context, { name: definition.signature.name, maxBytes: maxFormBody(definition, fallback) });
}

function takesFiles({ signature }: FunctionDefinition): boolean {
  return signature.params.some(({ files }) => files);
}

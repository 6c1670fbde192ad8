import { type RequestContext, RequestError } from "../http/index.ts";

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

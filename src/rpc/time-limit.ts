import { RPCError } from "../errors.ts";
import type { RequestContext } from "../http/index.ts";

/**
 * Runs a call with a time limit. When the limit is exceeded, the caller receives `timeout` at once and
 * `request.signal` aborts, so that the function can stop early. Its later result or error is dropped.
 *
 * @param seconds the limit; `undefined` for none
 * @returns without a limit the result of `run` as it is, a promise or not
 * @throws RPCError `timeout`
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
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new RPCError("timeout", `The call exceeded its time limit of ${seconds} s.`);
      reject(error);
      controller.abort(error);
    }, seconds * 1000);
  });
  try {
    // `race` handles the rejection of the losing promise, so it is not reported as unhandled.
    return await Promise.race([Promise.resolve().then(run), timeout]);
  } finally {
    clearTimeout(timer);
  }
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

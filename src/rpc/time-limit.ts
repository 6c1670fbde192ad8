import { RPCError } from "../errors.ts";
import type { RequestContext } from "../http/index.ts";

/**
 * Runs a call within a time: over it the caller is answered at once, `request.signal` aborts so
 * that the function can end early, and whatever it still gives or throws is dropped.
 *
 * @param seconds the limit; `undefined` for none
 * @returns without a limit what `run` gives, be it a promise or not
 * @throws RPCError `timeout`
 */
export function withinTime<T>(
  context: RequestContext,
  seconds: number | undefined,
  run: () => T,
): T | Promise<Awaited<T>> {
  return seconds === undefined ? run() : withinSeconds(context, seconds, run);
}

async function withinSeconds<T>(context: RequestContext, seconds: number, run: () => T): Promise<Awaited<T>> {
  const controller = new AbortController();
  context.limitBy(controller.signal);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new RPCError("timeout", `The call took longer than the ${seconds} s it has.`);
      reject(error);
      controller.abort(error);
    }, seconds * 1000);
  });
  try {
    // The one that loses is dropped: `race` has taken up its rejection too.
    return await Promise.race([Promise.resolve().then(run), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Checks a time limit as it was given.
 *
 * @throws RangeError that names what is wrong
 */
export function checkSeconds(seconds: unknown, where: string): asserts seconds is number | undefined {
  // Beyond it a timer would fire at once.
  const mostSeconds = 2 ** 31 / 1000 - 1;
  if (seconds === undefined) return;
  if (typeof seconds === "number" && seconds > 0 && seconds <= mostSeconds) return;
  throw new RangeError(`${where}: rpc_timeout is a number of seconds over 0, not ${String(seconds)}.`);
}

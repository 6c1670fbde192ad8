/**
 * Returns a function that runs an operation for several callers together. Each call resolves with the result of a run that
 * has started after the call, or with it.
 *
 * @param run the operation, of which one run at most is in progress. It receives the argument of the first of its callers.
 * @param intervalMs the least time between the starts of two runs
 */
export function coalesce<Argument, Result>(
  run: (argument: Argument) => Promise<Result>,
  intervalMs = 0,
): (argument: Argument) => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  let startedAtMs = Number.NEGATIVE_INFINITY;
  return (argument) => {
    next ??= running.then(async () => {
      const delayMs = startedAtMs + intervalMs - performance.now();
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs).unref());
      next = undefined;
      startedAtMs = performance.now();
      const result = run(argument);
      running = result.catch(() => undefined); // the callers get the error
      return result;
    });
    return next;
  };
}

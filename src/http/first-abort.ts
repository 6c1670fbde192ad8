/**
 * Returns a signal that aborts with the first of several, with its reason. Unlike `AbortSignal.any` of Node 20, it is not
 * kept in memory after the signals: a process with many streams would grow.
 */
export function firstAbort(...signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
}

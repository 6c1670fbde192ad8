/**
 * The abortion of work that does not accept a signal. Used by the client and by `tsweb/testing`.
 */

/**
 * Resolves with the result of the work, or rejects when the signal aborts, whichever is first. The work is not stopped.
 *
 * @throws the signal's reason, or the error of the work
 */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

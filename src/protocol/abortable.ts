/**
 * The abortion of work that does not accept a signal. Used by the client and by `tsweb/testing`.
 */

/**
 * Resolves with the result of the work, or rejects when the signal aborts, whichever is first. The work is not stopped.
 *
 * @throws the signal's reason, or the error of the work
 */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
  });
  try {
    // The race also handles a rejection of the work after the abortion.
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

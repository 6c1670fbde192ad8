/** When a client may try again, in the forms that a refusal contains. */
export interface RetryAdvice {
  /** The wait in whole seconds, at least 1. */
  readonly seconds: number;
  /** The end of the error's message: `Try again in 1 second.` */
  readonly sentence: string;
  /** The `details` of the error. The header `Retry-After` of its response is derived from them. */
  readonly details: { readonly retry_after: number };
}

/**
 * Returns when a client may try again, rounded up to whole seconds: one that waits for this time has waited enough.
 *
 * @param waitSeconds the wait in seconds, at least 0
 * @see docs/protocol.md 9.3; RFC 9110, section 10.2.3
 */
export function retryAdvice(waitSeconds: number): RetryAdvice {
  const seconds = Math.max(1, Math.ceil(waitSeconds));
  return {
    seconds,
    sentence: `Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`,
    details: { retry_after: seconds },
  };
}

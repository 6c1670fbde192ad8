/** When a client may try again, in the forms that a refusal contains. */
export interface RetryAdvice {
  /** The wait in whole seconds, at least 1. */
  readonly seconds: number;
  /** The end of the error's message: `Try again in 1 second.`, from two minutes on in minutes, then in hours and days. */
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
    sentence: `Try again in ${formatWait(seconds)}.`,
    details: { retry_after: seconds },
  };
}

/** The units of a wait, and from how many seconds on they are used. */
const UNITS = [
  ["day", 24 * 60 * 60, 2 * 24 * 60 * 60],
  ["hour", 60 * 60, 2 * 60 * 60],
  ["minute", 60, 2 * 60],
  ["second", 1, 0],
] as const;

function formatWait(seconds: number): string {
  const [unit, length] = UNITS.find(([, , from]) => seconds >= from) ?? ["second", 1];
  const count = Math.ceil(seconds / length);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

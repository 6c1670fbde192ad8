/** The errors of messages that the bus did not store. Entries live as long as the error. */
const publishFailures = new WeakSet<object>();

/**
 * Marks the error of a message that the bus did not store. While the bus is unreachable, each call that publishes fails
 * with one, so the log of an application summarizes them.
 */
export function markPublishFailure(error: unknown): void {
  if (error instanceof Error) publishFailures.add(error);
}

/** Returns whether an error was marked by {@link markPublishFailure}. */
export function isPublishFailure(error: unknown): error is Error {
  return error instanceof Error && publishFailures.has(error);
}

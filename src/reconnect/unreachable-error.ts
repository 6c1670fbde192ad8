/**
 * Thrown when a server did not respond in time, or no connection to it could be established. Its message is complete: a log
 * line about it needs no stack.
 */
export class UnreachableError extends Error {
  override get name(): string {
    return "UnreachableError";
  }
}

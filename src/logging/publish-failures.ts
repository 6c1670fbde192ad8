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

/** How many causes are counted apart. More are counted together, so that the log stays short whatever errors contain. */
const MAX_CAUSES = 8;

/** The cause that stands for all further ones. */
const OTHER = "other";

/** How much of a message tells causes apart. */
const MAX_CAUSE_LENGTH = 200;

/**
 * Returns a text that is equal for errors of one cause: the class, the code and the message, without what differs from one
 * event to the next, such as numbers and quoted names.
 */
function causeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException; // `code` is read as undefined from any other error
  const message = error.message
    .slice(0, MAX_CAUSE_LENGTH)
    .replace(/"[^"]*"|'[^']*'|`[^`]*`/g, "…")
    .replace(/\b(?=\w*\d)\w+/g, "#");
  return [error.name, typeof code === "string" ? code : "", message].join(" ");
}

/** Returns the key with which a summary counts an error: its cause, or one that all causes beyond the eighth share. */
export function countedCause(error: Error, counted: { readonly size: number; has(cause: string): boolean }): string {
  const cause = causeOf(error);
  return counted.has(cause) || counted.size < MAX_CAUSES ? cause : OTHER;
}

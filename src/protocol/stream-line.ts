/**
 * The lines of a stream's body. The server writes them; the browser and the client read them.
 *
 * @see docs/protocol.md 6.2
 */
import type { ErrorBody } from "./result.ts";

/** One line: it has exactly one of these members. */
export interface StreamLine {
  /** A value that the function yielded. */
  readonly chunk?: unknown;
  /** The function has returned; this is the last line. */
  readonly done?: true;
  /** The function has thrown; this is the last line. */
  readonly error?: ErrorBody;
}

/** The last line of a function that has returned. */
export const DONE_LINE = '{"done":true}';

/** Returns the line of a value. */
export function chunkLine(valueJson: string): string {
  return `{"chunk":${valueJson}}`;
}

/** Returns the last line of a function that has thrown. */
export function errorLine(errorJson: string): string {
  return `{"error":${errorJson}}`;
}

import type { GapReason } from "./gap.ts";

/**
 * The body of a poll. The server writes it as text in live/, and the browser reads it.
 *
 * @see docs/protocol.md 10.6
 */
export interface PollResponse {
  readonly events: readonly (readonly [channel: string, message: unknown])[];
  /** With the time in which the page is to reload, in milliseconds, if it is longer than usual. */
  readonly gaps: readonly (readonly [channel: string, reason: GapReason, windowMs?: number | undefined])[];
  /** The position after all events, for the next request. */
  readonly cursor: string;
  /** Present if the response has reached the maximum size: the browser polls again at once. */
  readonly more?: true;
}

/**
 * Why a subscription is incomplete: the missed messages are no longer stored (`trimmed`), the bus lost its history
 * (`reset`), or the feed is no longer valid (`expired`). The server sends it and the browser passes it to the page.
 *
 * @see docs/protocol.md 10.7
 */
export type GapReason = "trimmed" | "reset" | "expired";

/** The type of the event that reports a gap. @see docs/protocol.md 10.5 */
export const GAP_EVENT = "gap";

/**
 * Why a subscription cannot be complete: the messages it missed are no longer stored (`trimmed`), the bus lost
 * its history (`reset`), or the feed is no longer valid (`expired`).
 */
export type GapReason = "trimmed" | "reset" | "expired";

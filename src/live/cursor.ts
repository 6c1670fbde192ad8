import { POSITION_PATTERN, type Position } from "../backends/index.ts";
import { isLater } from "../protocol/index.ts";

/** Marks a feed in a cursor whose gap was reported: it receives nothing more. It is not a position of any bus. */
export const ENDED = "-";

/** Returns a cursor: the positions of all feeds, in the order of the request. @see docs/protocol.md 10.3 */
export function formatCursor(positions: readonly Position[]): string {
  return positions.join();
}

/**
 * Parses a cursor. A cursor with any error is unusable as a whole, because it is unknown which position belongs to
 * which feed.
 *
 * @param count the number of feeds in the request
 * @returns the positions, or `null` if the cursor is unusable
 */
export function parseCursor(text: string, count: number): readonly Position[] | null {
  const positions = text.split(",", count + 1);
  return positions.length === count && positions.every((position) => POSITION_PATTERN.test(position))
    ? positions
    : null;
}

/**
 * Returns the later one of two positions: that of a feed, and that of the cursor of its holder. Messages that were
 * published before the feed was issued are never delivered. A shorter position counts as earlier: at worst, messages are
 * delivered twice, and none is omitted.
 */
export function laterPosition(feedPosition: Position, cursorPosition: Position): Position {
  return isLater(cursorPosition, feedPosition) ? cursorPosition : feedPosition;
}

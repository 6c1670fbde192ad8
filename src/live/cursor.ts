import { isLater } from "../protocol/index.ts";
import { POSITION, type Position } from "./bus/index.ts";

/**
 * Stands in a cursor for a feed whose gap has been told: there is nothing more to say to it. No bus
 * has a position of this form.
 */
export const OVER = "-";

/** Writes a cursor: a position for each feed, in the order of the request. */
export function writeCursor(positions: readonly Position[]): string {
  return positions.join();
}

/**
 * Reads a cursor. Whatever is wrong with its form, all of it counts as unusable: which feed each
 * position was meant for is then anybody's guess.
 *
 * @param count how many feeds were asked for
 * @returns the positions, or `null` for a cursor that cannot be used
 */
export function readCursor(text: string, count: number): readonly Position[] | null {
  const positions = text.split(",", count + 1);
  return positions.length === count && positions.every((each) => POSITION.test(each)) ? positions : null;
}

/**
 * Gives the later of a feed's own position and of the cursor that its holder presents, so that nobody
 * reads what was said before they were let in. A cursor that is shorter than the position counts as
 * earlier: then messages come twice at worst, and none is missing.
 */
export function laterOf(own: Position, presented: Position): Position {
  return isLater(presented, own) ? presented : own;
}

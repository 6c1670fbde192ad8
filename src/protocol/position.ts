/**
 * Returns whether a position of a channel is later than another one of the same channel.
 *
 * The longer text is the later position, because the numbers in it have one digit more.
 */
export function isLater(position: string, other: string): boolean {
  return position.length === other.length ? position > other : position.length > other.length;
}

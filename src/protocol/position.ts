/**
 * Returns whether a position of a channel is later than another position of the same channel. Used by the server and
 * the browser.
 *
 * The longer text is later, because its number has more digits.
 *
 * @see docs/protocol.md 10.3
 */
export function isLater(position: string, reference: string): boolean {
  return position.length === reference.length ? position > reference : position.length > reference.length;
}

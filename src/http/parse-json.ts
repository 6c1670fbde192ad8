/** The maximum depth of JSON from a client, in levels. */
const MAX_LEVELS = 1_000;

/** The length of a text up to which it is parsed at once, however deep it nests, in UTF-16 code units. */
const MAX_UNCHECKED_LENGTH = 4_096;

/**
 * Returns the value of a JSON text of a client. The nesting of a long one is checked first: with 1 MiB of brackets, `JSON.parse`
 * blocks the event loop for a third of a second.
 *
 * @throws SyntaxError if the text is not JSON; RangeError if it is long and nests deeper than {@link MAX_LEVELS}
 */
export function parseJson(text: string): unknown {
  if (text.length > MAX_UNCHECKED_LENGTH && isDeeperThan(MAX_LEVELS, text)) {
    throw new RangeError(`The JSON nests deeper than ${MAX_LEVELS} levels.`);
  }
  return JSON.parse(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Returns whether arrays and objects nest deeper than a number of levels. It reads no further than the first place. */
function isDeeperThan(levels: number, text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > levels) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
    }
  }
  return false;
}

/** Returns the position of the quote that ends a string; the length of the text without one. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at;
    if (unit === BACKSLASH) at++;
  }
  return text.length;
}

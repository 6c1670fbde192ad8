import type { ReadLimit } from "./bus.ts";

/**
 * Returns the index after the last message that one read from `start` on may return: as many as the limit allows, but at
 * least one, unless there is none.
 *
 * @param dataOf returns the text of a message
 */
export function endOfRead<T>(
  messages: readonly T[],
  start: number,
  { limit, dataOf }: { readonly limit: ReadLimit; readonly dataOf: (message: T) => string },
): number {
  let end = start;
  for (let remaining = limit.bytes; end < messages.length && end - start < limit.messages; end++) {
    const message = messages[end];
    if (message !== undefined) remaining -= Buffer.byteLength(dataOf(message));
    if (remaining < 0 && end > start) break;
  }
  return end;
}

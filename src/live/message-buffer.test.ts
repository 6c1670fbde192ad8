import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atMost } from "#test/read-limit";
import { MessageBuffer } from "./message-buffer.ts";

const positionAt = (sequence: number) => `e.${String(sequence).padStart(3, "0")}`;

/** A history that all channels share: for each message, whether it is of the buffer's channel. */
const history = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 });

/** Returns the channel's messages after one sequence number, up to another. */
function messagesBetween(isOfChannel: readonly boolean[], after: number, end: number) {
  return isOfChannel.flatMap((is, i) =>
    is && i + 1 > after && i + 1 <= end ? [{ position: positionAt(i + 1), data: "1" }] : [],
  );
}

describe("indexAfterRead, for a position without a message of the channel", () => {
  it("returns the index from which the buffer has all later messages and no others, or null", () => {
    let foundCount = 0;
    fc.assert(
      fc.property(history, fc.array(fc.nat(12), { minLength: 6, maxLength: 6 }), (isOfChannel, numbers) => {
        const [start = 0, ...rest] = numbers
          .slice(0, 3)
          .map((number) => number % (isOfChannel.length + 1))
          .sort((a, b) => a - b);
        const [middle = 0, end = 0] = rest;
        const buffer = new MessageBuffer("a", positionAt(start));
        buffer.append(messagesBetween(isOfChannel, start, middle), positionAt(middle));
        buffer.append(messagesBetween(isOfChannel, middle, end), positionAt(end));
        buffer.dropOldest((numbers[3] ?? 0) % 3);
        // The result of a read: the channel has no message between `from` and `position`.
        const from = (numbers[4] ?? 0) % (isOfChannel.length + 1);
        let position = from;
        while (position < isOfChannel.length && position - from < (numbers[5] ?? 0) && !isOfChannel[position]) {
          position++;
        }
        const index = buffer.indexAfterRead(positionAt(from), positionAt(position));
        if (index === null) return;
        foundCount++;
        buffer.append(messagesBetween(isOfChannel, end, isOfChannel.length), positionAt(isOfChannel.length));
        expect(buffer.messagesFrom(index, atMost(100)).map((message) => message.position)).toEqual(
          messagesBetween(isOfChannel, position, isOfChannel.length).map((message) => message.position),
        );
      }),
      { numRuns: 2_000 },
    );
    expect(foundCount).toBeGreaterThan(500);
  });

  it("returns an index if the buffer covers the position, or if there is no message between buffer and position", () => {
    const buffer = new MessageBuffer("a", positionAt(2));
    buffer.append([{ position: positionAt(5), data: "1" }], positionAt(7));
    const indexAfterRead = (from: number, position: number) =>
      buffer.indexAfterRead(positionAt(from), positionAt(position));
    expect([2, 3, 4].map((position) => indexAfterRead(2, position))).toEqual([0, 0, 0]);
    expect([5, 6, 7].map((position) => indexAfterRead(5, position))).toEqual([1, 1, 1]);
    expect([8, 9].map((position) => indexAfterRead(7, position))).toEqual([1, 1]);
    expect(indexAfterRead(0, 1)).toBeNull();
    expect(indexAfterRead(8, 9)).toBeNull();
  });
});

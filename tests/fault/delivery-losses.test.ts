import { describe, expect, it } from "vitest";
import { findLosses } from "#test/delivery-losses";

/** Five messages of one publisher, of which the third one was not acknowledged. */
const PUBLISHED = [0, 1, 2, 3, 4].map((n) => ({ publisher: "p", n, isAcknowledged: n !== 2 }));

const received = (numbers: readonly number[], gapIndexes: readonly number[] = []) => ({
  messages: numbers.map((n) => ({ publisher: "p", n })),
  gapIndexes,
});

describe("the losses of a listener", () => {
  it.each([
    ["none if it has received every message", received([0, 1, 2, 3, 4]), [0, [], []]],
    ["none if a message is missing that was not acknowledged", received([0, 1, 3, 4]), [0, [], []]],
    ["silent if a message is missing without a gap", received([0, 1, 4]), [0, ["p:3"], []]],
    ["silent if the last message is missing without a gap", received([0, 1, 2, 3]), [0, ["p:4"], []]],
    ["silent if nothing was received", received([]), [0, ["p:0", "p:1", "p:3", "p:4"], []]],
    ["silent if the gap was before the message in front", received([0, 1, 4], [1]), [0, ["p:3"], []]],
    ["silent if the gap was after the next message", received([0, 3, 4], [2]), [0, ["p:1"], []]],
    ["in a gap if it was between the neighbours", received([0, 4], [1]), [2, [], []]],
    ["in a gap if that was before the first message", received([3, 4], [0]), [2, [], []]],
    ["in a gap if that was after the last message", received([0, 1], [2]), [2, [], []]],
    ["disordered if a message was received twice", received([0, 1, 1, 3, 4]), [0, [], ["p:1"]]],
    ["disordered if an earlier message was received later", received([0, 3, 1, 4]), [0, [], ["p:1"]]],
  ])("are %s", (_, messages, [inGaps, silent, disordered]) => {
    expect(findLosses(PUBLISHED, messages)).toEqual({ inGaps, silent, disordered });
  });

  it("of one publisher are not hidden by the messages of another", () => {
    const messages = [
      { publisher: "p", n: 0 },
      { publisher: "q", n: 0 },
      { publisher: "p", n: 4 },
    ];
    const published = [...PUBLISHED, { publisher: "q", n: 0, isAcknowledged: true }];
    expect(findLosses(published, { messages, gapIndexes: [] }).silent).toEqual(["p:1", "p:3"]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ENDED, formatCursor, laterPosition, parseCursor } from "./cursor.ts";

describe("a cursor", () => {
  it("is parsed to the positions that it was formatted from", () => {
    const position = fc.stringMatching(/^[0-9A-Za-z.-]{1,40}$/);
    fc.assert(
      fc.property(fc.array(position, { minLength: 1, maxLength: 32 }), (positions) => {
        expect(parseCursor(formatCursor(positions), positions.length)).toEqual(positions);
      }),
    );
  });

  it("can mark a feed as ended", () => {
    expect(parseCursor(`a1,${ENDED},b2`, 3)).toEqual(["a1", ENDED, "b2"]);
  });

  it.each([
    ["too few positions", "a1", 2],
    ["too many positions", "a1,b2,c3", 2],
    ["no position", "", 1],
    ["an empty position", "a1,", 2],
    ["a space", "a1, b2", 2],
    ["a line break", "a1\n", 1],
    ["a position that is too long", "a".repeat(41), 1],
    ["characters that no position has", "a1/../b2", 1],
    ["100,000 positions", "a1,".repeat(100_000), 2],
  ])("is unusable with %s", (_error, text, count) => {
    expect(parseCursor(text, count)).toBeNull();
  });

  it("never throws, for any text", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(32), (text, count) => {
        const positions = parseCursor(text, count);
        expect(positions === null || positions.length === count).toBe(true);
      }),
    );
  });
});

describe("the later position", () => {
  it.each([
    ["that of the cursor, which is after that of the feed", "k.005", "k.007", "k.007"],
    ["that of the feed, which is after that of the cursor", "k.005", "k.004", "k.005"],
    ["either, if they are equal", "k.005", "k.005", "k.005"],
    ["that of the cursor, which has more digits", "170-9", "170-10", "170-10"],
    ["that of the feed, which has more digits", "170-10", "170-9", "170-10"],
  ])("is %s", (_which, feedPosition, cursorPosition, later) => {
    expect(laterPosition(feedPosition, cursorPosition)).toBe(later);
  });
});

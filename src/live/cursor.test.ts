import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { laterOf, OVER, readCursor, writeCursor } from "./cursor.ts";

describe("a cursor", () => {
  it("brings back its positions", () => {
    const position = fc.stringMatching(/^[0-9A-Za-z.-]{1,40}$/);
    fc.assert(
      fc.property(fc.array(position, { minLength: 1, maxLength: 32 }), (positions) => {
        expect(readCursor(writeCursor(positions), positions.length)).toEqual(positions);
      }),
    );
  });

  it("may say that a feed is over", () => {
    expect(readCursor(`a1,${OVER},b2`, 3)).toEqual(["a1", OVER, "b2"]);
  });

  it.each([
    ["too few", "a1", 2],
    ["too many", "a1,b2,c3", 2],
    ["nothing", "", 1],
    ["an empty position", "a1,", 2],
    ["a space", "a1, b2", 2],
    ["a line break", "a1\n", 1],
    ["a position that is too long", "a".repeat(41), 1],
    ["other characters", "a1/../b2", 1],
    ["a very long text", "a1,".repeat(100_000), 2],
  ])("with %s cannot be used", (_what, text, count) => {
    expect(readCursor(text, count)).toBeNull();
  });

  it("is never an exception", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(32), (text, count) => {
        const positions = readCursor(text, count);
        expect(positions === null || positions.length === count).toBe(true);
      }),
    );
  });
});

describe("the later of two positions", () => {
  it.each([
    ["the cursor, after the feed's own", "k.005", "k.007", "k.007"],
    ["the feed's own, after the cursor", "k.005", "k.004", "k.005"],
    ["either, at one place", "k.005", "k.005", "k.005"],
    ["the cursor, of more digits", "170-9", "170-10", "170-10"],
    ["the feed's own, of more digits", "170-10", "170-9", "170-10"],
  ])("is %s", (_which, own, presented, later) => {
    expect(laterOf(own, presented)).toBe(later);
  });
});

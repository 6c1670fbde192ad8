import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Tail } from "./tail.ts";

const at = (seq: number) => `e.${String(seq).padStart(3, "0")}`;

/** A history of all channels: of each message, whether it is this channel's. */
const history = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 });

/** What of the channel comes after a place, up to another. */
function between(isOurs: readonly boolean[], after: number, end: number) {
  return isOurs.flatMap((is, i) => (is && i + 1 > after && i + 1 <= end ? [{ position: at(i + 1), data: "1" }] : []));
}

describe("a place between messages", () => {
  it("is the one after which the tail gives all that comes there, and nothing else, or is not known", () => {
    let known = 0;
    fc.assert(
      fc.property(history, fc.array(fc.nat(12), { minLength: 6, maxLength: 6 }), (isOurs, places) => {
        const [start = 0, ...rest] = places
          .slice(0, 3)
          .map((place) => place % (isOurs.length + 1))
          .sort((a, b) => a - b);
        const [middle = 0, end = 0] = rest;
        const tail = new Tail("a", at(start));
        tail.append(between(isOurs, start, middle), at(middle));
        tail.append(between(isOurs, middle, end), at(end));
        tail.drop((places[3] ?? 0) % 3);
        // What was read: nothing of this channel lies between.
        const from = (places[4] ?? 0) % (isOurs.length + 1);
        let position = from;
        while (position < isOurs.length && position - from < (places[5] ?? 0) && !isOurs[position]) position++;
        const next = tail.place(at(from), at(position));
        if (next === null) return;
        known++;
        tail.append(between(isOurs, end, isOurs.length), at(isOurs.length));
        expect(tail.frames(next).map((frame) => frame.position)).toEqual(
          between(isOurs, position, isOurs.length).map((message) => message.position),
        );
      }),
      { numRuns: 2_000 },
    );
    expect(known).toBeGreaterThan(500);
  });

  it("is known where the tail has seen it, and where nothing lies between the tail and it", () => {
    const tail = new Tail("a", at(2));
    tail.append([{ position: at(5), data: "1" }], at(7));
    expect([2, 3, 4].map((position) => tail.place(at(2), at(position)))).toEqual([0, 0, 0]);
    expect([5, 6, 7].map((position) => tail.place(at(5), at(position)))).toEqual([1, 1, 1]);
    expect([8, 9].map((position) => tail.place(at(7), at(position)))).toEqual([1, 1]);
    expect(tail.place(at(0), at(1))).toBeNull();
    expect(tail.place(at(8), at(9))).toBeNull();
  });
});

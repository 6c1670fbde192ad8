import fc from "fast-check";
import { expect, it } from "vitest";
import { formatBase36, parseBase36 } from "./base36.ts";

it("formats numbers as texts that compare like the numbers, and parses them again", () => {
  const number = fc.integer({ min: 0, max: 36 ** 9 - 1 });
  fc.assert(
    fc.property(number, number, (one, two) => {
      expect(formatBase36(one)).toHaveLength(9);
      expect(parseBase36(formatBase36(one))).toBe(one);
      expect(formatBase36(one) < formatBase36(two)).toBe(one < two);
    }),
  );
  expect([formatBase36(0), formatBase36(36 ** 9 - 1)]).toEqual(["000000000", "zzzzzzzzz"]);
});

it.each([undefined, "", "1", "00000000", "0000000000", "00000000A", "00000000-", "000000000\n"])(
  "parses %j as undefined",
  (text) => {
    expect(parseBase36(text)).toBeUndefined();
  },
);

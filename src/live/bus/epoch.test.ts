import fc from "fast-check";
import { expect, it } from "vitest";
import { formatBase36, createEpoch, parseBase36 } from "./epoch.ts";

it("writes numbers so that they compare as texts, and reads them again", () => {
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
  "reads nothing from %j",
  (text) => {
    expect(parseBase36(text)).toBeUndefined();
  },
);

it("names a later history by a later text, and never two alike", () => {
  expect(createEpoch(1_000) < createEpoch(1_001)).toBe(true);
  expect(createEpoch()).toMatch(/^[0-9a-z]{13}$/);
  // Of 1.7 million by chance in one millisecond, twenty are as good as never two alike.
  expect(new Set(Array.from({ length: 20 }, () => createEpoch(5))).size).toBe(20);
});

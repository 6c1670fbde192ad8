import fc from "fast-check";
import { expect, it } from "vitest";
import { createEpoch, createProducerId, formatBase36, isProducerId, parseBase36 } from "./ids.ts";

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

it("creates a later epoch as a greater text, and different epochs in one millisecond", () => {
  expect(createEpoch(1_000) < createEpoch(1_001)).toBe(true);
  expect(createEpoch()).toMatch(/^[0-9a-z]{13}$/);
  // There are 1.7 million random parts: the probability that two of 20 are equal is about 1 in 10,000.
  expect(new Set(Array.from({ length: 20 }, () => createEpoch(5))).size).toBe(20);
});

it("creates producer ids of 128 random bits, also within one millisecond", () => {
  const ids = Array.from({ length: 10_000 }, createProducerId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every(isProducerId)).toBe(true);
  const bytes = ids.map((id) => Buffer.from(id, "base64url"));
  expect(new Set(bytes.map(({ length }) => length))).toEqual(new Set([16]));
  // Every bit is set in about half of the ids: none of them is derived from the time.
  for (let bit = 0; bit < 128; bit++) {
    const set = bytes.filter((id) => ((id[bit >> 3] ?? 0) >> (bit & 7)) & 1).length;
    expect(Math.abs(set - 5_000), `bit ${bit}`).toBeLessThan(500);
  }
});

it("recognizes the form of a producer id", () => {
  expect(isProducerId("a".repeat(22))).toBe(true);
  for (const text of ["", "a".repeat(21), "a".repeat(23), `${"a".repeat(21)}.`]) expect(isProducerId(text)).toBe(false);
});

import { expect, it } from "vitest";
import { createProducerId, isProducerId } from "./producer-id.ts";

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

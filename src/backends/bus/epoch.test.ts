import { expect, it } from "vitest";
import { createEpoch } from "./epoch.ts";

it("creates a later epoch as a greater text, and different epochs in one millisecond", () => {
  expect(createEpoch(1_000) < createEpoch(1_001)).toBe(true);
  expect(createEpoch()).toMatch(/^[0-9a-z]{13}$/);
  // There are 1.7 million random parts: the probability that two of 20 are equal is about 1 in 10,000.
  expect(new Set(Array.from({ length: 20 }, () => createEpoch(5))).size).toBe(20);
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffMs } from "./backoff.ts";

const anyAttempt = fc.integer({ min: 1, max: 100_000 });
const anyRandom = fc.double({ min: 0, max: 1, noNaN: true });

describe("backoffMs", () => {
  it("doubles the upper bound with each attempt, up to two seconds", () => {
    expect([1, 2, 3, 6, 7, 1000, 100_000].map((attempt) => backoffMs(attempt, 1))).toEqual([
      50, 100, 200, 1600, 2000, 2000, 2000,
    ]);
    expect(backoffMs(1, 0)).toBe(25);
    expect(backoffMs(100, 0)).toBe(1000);
  });

  it("stays between half of the bound and the bound, whatever the random number is", () => {
    fc.assert(
      fc.property(anyAttempt, anyRandom, (attempt, random) => {
        const bound = backoffMs(attempt, 1);
        const delay = backoffMs(attempt, random);
        expect(delay).toBeGreaterThanOrEqual(bound / 2);
        expect(delay).toBeLessThanOrEqual(bound);
      }),
    );
  });

  it("returns different delays for random numbers whose delays are at least 1 ms apart", () => {
    fc.assert(
      fc.property(anyAttempt, anyRandom, anyRandom, (attempt, one, two) => {
        const millisecond = 2 / backoffMs(attempt, 1); // of the range of the random number
        fc.pre(two - one > millisecond);
        expect(backoffMs(attempt, one)).toBeLessThan(backoffMs(attempt, two));
      }),
    );
  });

  it("draws a new random number for each call by default", () => {
    const delays = Array.from({ length: 50 }, () => backoffMs(100));
    // 50 delays out of 1,001 possible ones: the probability that all are equal is below 10^-140.
    expect(new Set(delays).size).toBeGreaterThan(1);
  });
});

import { expect, it } from "vitest";
import { backoffMs } from "./backoff.ts";

it("waits longer each time, two seconds at most, and never twice the same for all", () => {
  expect([1, 2, 3, 6, 7, 1000, 100_000].map((attempt) => backoffMs(attempt, 1))).toEqual([
    50, 100, 200, 1600, 2000, 2000, 2000,
  ]);
  expect(backoffMs(1, 0)).toBe(25);
  expect(backoffMs(100, 0)).toBe(1000);
});

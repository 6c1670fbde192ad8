import { describe, expect, it } from "vitest";
import { retryAdvice } from "./rate.ts";

describe("retryAdvice", () => {
  it.each([
    [0, 1, "Try again in 1 second."],
    [0.2, 1, "Try again in 1 second."],
    [1, 1, "Try again in 1 second."],
    [1.001, 2, "Try again in 2 seconds."],
    [65, 65, "Try again in 65 seconds."],
    [119, 119, "Try again in 119 seconds."],
    [120, 120, "Try again in 2 minutes."],
    [120.5, 121, "Try again in 3 minutes."],
    [7_199, 7_199, "Try again in 120 minutes."],
    [7_201, 7_201, "Try again in 3 hours."],
    [172_799, 172_799, "Try again in 48 hours."],
    [172_801, 172_801, "Try again in 3 days."],
  ])("rounds a wait of %d s up to %i, at least 1: %s", (wait, seconds, sentence) => {
    expect(retryAdvice(wait)).toEqual({
      seconds,
      sentence,
      details: { retry_after: seconds },
    });
  });
});

import { describe, expect, it } from "vitest";
import { retryAdvice } from "./retry-advice.ts";

describe("retryAdvice", () => {
  it.each([
    [0, 1, "Try again in 1 second."],
    [0.2, 1, "Try again in 1 second."],
    [1, 1, "Try again in 1 second."],
    [1.001, 2, "Try again in 2 seconds."],
    [65, 65, "Try again in 65 seconds."],
  ])("rounds a wait of %d s up to %i, at least 1: %s", (wait, seconds, sentence) => {
    expect(retryAdvice(wait)).toEqual({
      seconds,
      sentence,
      details: { retry_after: seconds },
    });
  });
});

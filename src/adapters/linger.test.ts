import { describe, expect, it } from "vitest";
import { closes } from "./linger.ts";

const answer = (...headers: string[]) => ({ status: 200, headers, body: null });

describe("whether an answer closes its connection", () => {
  it.each([
    [true, ["connection", "close"]],
    [true, ["a", "b", "connection", "close", "c", "d"]],
    [true, ["vary", "connection", "connection", "close"]],
    [false, []],
    [false, ["a", "close"]],
    [false, ["connection", "keep-alive"]],
    [false, ["vary", "connection", "close", "x"]],
  ])("is %s of %j", (wanted, headers) => {
    expect(closes(answer(...headers))).toBe(wanted);
  });
});

import { describe, expect, it } from "vitest";
import { closesConnection } from "./response-end.ts";

describe("closesConnection", () => {
  it.each([
    [true, ["connection", "close"]],
    [true, ["a", "b", "connection", "close", "c", "d"]],
    [true, ["vary", "connection", "connection", "close"]],
    [false, []],
    [false, ["a", "close"]],
    [false, ["connection", "keep-alive"]],
    [false, ["vary", "connection", "close", "x"]],
  ])("returns %s for the headers %j", (expected, headers) => {
    expect(closesConnection(headers)).toBe(expected);
  });
});

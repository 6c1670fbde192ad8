import { describe, expect, it } from "vitest";
import { didYouMean } from "./did-you-mean.ts";

describe("didYouMean", () => {
  const names = ["minimal", "accounts", "board", "chat"];

  it.each([
    ["bord", "board"],
    ["baord", "board"],
    ["Board", "board"],
    ["account", "accounts"],
    ["chta", "chat"],
    ["chatt", "chat"],
    ["minmal", "minimal"],
  ])("proposes the name for %s that differs by one mistake", (input, name) => {
    expect(didYouMean(input, names)).toBe(` Did you mean ${name}?`);
  });

  it.each(["", "shop", "react", "b", "chatroom"])("proposes nothing for %j, which is close to no name", (input) => {
    expect(didYouMean(input, names)).toBe("");
  });
});

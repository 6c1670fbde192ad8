import { describe, expect, it } from "vitest";
import { closestName } from "./index.ts";

describe("closestName", () => {
  it.each([
    ["sing", ["everyone", "sign"], "sign"],
    ["everione", ["everyone", "sign"], "everyone"],
    ["guest.server.ts", ["guests.server.ts", "guest-book.tsx"], "guests.server.ts"],
    ["Guest-Book.tsx", ["guest-book.tsx"], "guest-book.tsx"],
    ["baord", ["minimal", "accounts", "board", "chat"], "board"],
    ["chatt", ["minimal", "accounts", "board", "chat"], "chat"],
    ["minmal", ["minimal", "accounts", "board", "chat"], "minimal"],
    ["save", ["load", "delete"], undefined],
    ["", ["chat"], undefined],
    ["b", ["chat"], undefined],
    ["chatroom", ["chat"], undefined],
    ["a", [], undefined],
    ["ab", ["cd"], undefined],
  ])("returns for %j of %j: %j", (name, candidates, expected) => {
    expect(closestName(name, candidates)).toBe(expected);
  });

  it("returns the candidate with the fewest changes", () => {
    expect(closestName("users", ["uses_s", "user", "usersss"])).toBe("user");
  });
});

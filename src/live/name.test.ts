import { describe, expect, it } from "vitest";
import { checkName, MAX_NAME_BYTES } from "./name.ts";

describe("the name of a channel", () => {
  it.each(["a", "room:1", "Größe 7", "👩‍🚀", "a.b.*.>", " ", "é".repeat(64), "x".repeat(MAX_NAME_BYTES)])(
    "may be %j",
    (name) => {
      expect(() => checkName(name, "publish")).not.toThrow();
    },
  );

  it.each([
    ["", "publish: a channel's name cannot be empty."],
    ["x".repeat(MAX_NAME_BYTES + 1), "publish: a channel's name has at most 128 bytes of UTF-8; this one has 129."],
    [`${"é".repeat(64)}x`, "publish: a channel's name has at most 128 bytes of UTF-8; this one has 129."],
    ["a\nb", /no control characters/],
    ["a\rb", /no control characters/],
    ["a\0", /no control characters/],
    ["\u0085", /no control characters/],
    ["\ud800", /nothing that UTF-8 cannot write/],
    [null, "publish: a channel's name is a string, not null."],
    [7, "publish: a channel's name is a string, not of type number."],
    [undefined, /not of type undefined/],
  ])("cannot be %j", (name, message) => {
    expect(() => checkName(name, "publish")).toThrow(TypeError);
    expect(() => checkName(name, "publish")).toThrow(message);
  });
});

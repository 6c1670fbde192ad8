import { describe, expect, it } from "vitest";
import { MAX_CHANNEL_NAME_BYTES } from "../protocol/index.ts";
import { checkChannelName } from "./channel-name.ts";

describe("the name of a channel", () => {
  it.each(["a", "room:1", "Größe 7", "👩‍🚀", "a.b.*.>", " ", "é".repeat(64), "x".repeat(MAX_CHANNEL_NAME_BYTES)])(
    "can be %j",
    (name) => {
      expect(() => checkChannelName(name, "publish")).not.toThrow();
    },
  );

  it.each([
    ["", "publish: the name of a channel must not be empty."],
    [
      "x".repeat(MAX_CHANNEL_NAME_BYTES + 1),
      /^publish: .* at most 128 bytes of UTF-8; received 129 bytes, "x{40}…"\.$/,
    ],
    [`${"é".repeat(64)}x`, /^publish: .* at most 128 bytes of UTF-8; received 129 bytes, "é{40}…"\.$/],
    ["a\nb", /control characters or unpaired surrogates; received "a\\nb"/],
    ["a\rb", /control characters/],
    ["a\0", /control characters/],
    ["\u0085", /control characters/],
    ["\ud800", /unpaired surrogates; received "\\ud800"/],
    [null, "publish: the name of a channel must be a string; received null."],
    [7, "publish: the name of a channel must be a string; received a value of type number."],
    [undefined, /received a value of type undefined/],
  ])("cannot be %j", (name, message) => {
    expect(() => checkChannelName(name, "publish")).toThrow(TypeError);
    expect(() => checkChannelName(name, "publish")).toThrow(message);
  });
});

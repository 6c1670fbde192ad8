import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unsignedFeed } from "#test/unsigned-feed";
import { readFeed } from "./feed.ts";
import { FEED_MAC_BYTES, formatFeedText } from "./feed-layout.ts";

const names = fc.string({ minLength: 1, maxLength: 30, unit: "grapheme" }).filter((name) => !/\p{C}/u.test(name));
const positions = fc.stringMatching(/^[0-9A-Za-z.-]{1,40}$/);
const tags = fc.option(fc.stringMatching(/^[A-Za-z0-9_-]{11}$/));
const macs = fc.uint8Array({ minLength: FEED_MAC_BYTES, maxLength: FEED_MAC_BYTES });

describe("readFeed", () => {
  test("reads the layout of a feed, with and without a session tag, whatever the HMAC", () => {
    fc.assert(
      fc.property(names, positions, tags, macs, (channel, position, tag, mac) => {
        const text = formatFeedText({ expiresAt: 1_780_000_000, tag, position, channel });
        const feed = Buffer.concat([Buffer.from(text), mac]).toString("base64url");
        expect(readFeed(feed)).toEqual({ channel, position });
      }),
    );
  });

  test("reads a feed of the test helpers", () => {
    expect(readFeed(unsignedFeed("räume:1"))).toEqual({ channel: "räume:1", position: "p.0" });
    expect(readFeed(unsignedFeed("a", { position: "1-2.x", bound: true }))).toEqual({
      channel: "a",
      position: "1-2.x",
    });
  });

  test.each([
    ["nothing", undefined],
    ["an empty text", ""],
    ["no base64", "a feed!"],
    ["base64 of a wrong length", "abcde"],
    ["of too few lines", Buffer.from("1zik0zj\np.0").toString("base64url")],
    ["all but a channel", unsignedFeed("")],
  ])("rejects a text that is not a feed: %s", (_, text) => {
    expect(() => readFeed(text as string)).toThrow(TypeError);
    expect(() => readFeed(text as string)).toThrow("subscribe() needs a feed of channel(), and received ");
  });
});

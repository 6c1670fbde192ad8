import { createSecretKey } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unsignedFeed } from "#test/unsigned-feed";
import { signFeed } from "../live/feed.ts";
import { readFeed } from "./read-feed.ts";

const key = createSecretKey(Buffer.alloc(32, 7));
const keys = { sign: key, verify: [key] };

const names = fc.string({ minLength: 1, maxLength: 30, unit: "grapheme" }).filter((name) => !/\p{C}/u.test(name));
const positions = fc.stringMatching(/^[0-9A-Za-z.-]{1,40}$/);

describe("readFeed", () => {
  test("reads a feed of the server, with and without a session tag", () => {
    fc.assert(
      fc.property(names, positions, fc.option(fc.string({ minLength: 1 })), (channel, position, sid) => {
        const feed = signFeed({ channel, position, sid, issuedAt: Date.now() / 1000 }, keys);
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
    expect(() => readFeed(text as string)).toThrow(new TypeError("subscribe() needs a feed of channel()"));
  });
});

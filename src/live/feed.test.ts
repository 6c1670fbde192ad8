import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testConfig } from "#test/request-context";
import { MAX_FEED_CHARS, readFeed } from "../protocol/index.ts";
import { keysFor } from "../session/index.ts";
import {
  channelTag,
  ENDED,
  type FeedPayload,
  formatCursor,
  laterPosition,
  parseCursor,
  signFeed,
  verifyFeed,
} from "./feed.ts";

const OLD_SECRET = "4b".repeat(32);
const NEW_SECRET = "5a".repeat(32);
const keys = keysFor(testConfig(), "feed");
const ISSUED_AT = 1_780_000_000;
const LIFETIME_SECONDS = 3_600;
const expiresAt = ISSUED_AT + LIFETIME_SECONDS;
const payload: FeedPayload = { channel: "room:1", position: "00k2.0000001", sid: null, expiresAt };
const signedOut = { sid: null, now: ISSUED_AT };

describe("a feed", () => {
  it("contains its channel and its position", () => {
    expect(verifyFeed(signFeed(payload, keys), signedOut, keys)).toEqual({
      channel: "room:1",
      position: "00k2.0000001",
      expiresAt,
      expired: false,
    });
  });

  it("can contain any channel and any position", () => {
    const names = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
      .filter((name) => !/[\p{Cc}\p{Cs}]/u.test(name) && Buffer.byteLength(name) <= 128);
    const positions = fc.stringMatching(/^[0-9A-Za-z.-]{1,40}$/);
    const sids = fc.option(fc.string({ minLength: 1 }));
    fc.assert(
      fc.property(names, positions, sids, (channel, position, sid) => {
        const feed = signFeed({ channel, position, sid, expiresAt }, keys);
        expect(feed.length).toBeLessThanOrEqual(MAX_FEED_CHARS);
        expect(verifyFeed(feed, { sid, now: ISSUED_AT }, keys)).toEqual({
          channel,
          position,
          expiresAt,
          expired: false,
        });
        expect(readFeed(feed)).toEqual({ channel, position });
      }),
    );
  });

  it("has at most 278 characters", () => {
    const longest = { channel: "c".repeat(128), position: "p".repeat(40), sid: "s".repeat(22), expiresAt };
    const feed = signFeed(longest, keys);
    expect(MAX_FEED_CHARS).toBe(278);
    expect(feed.length).toBeLessThanOrEqual(MAX_FEED_CHARS);
    expect(verifyFeed(feed, { sid: longest.sid, now: ISSUED_AT }, keys)).toMatchObject({ expired: false });
  });

  it("has at most 150 characters for a name of 40 and a position of 33", () => {
    const feed = signFeed({ channel: "c".repeat(40), position: "p".repeat(33), sid: "s".repeat(22), expiresAt }, keys);
    expect(feed.length).toBeLessThanOrEqual(150);
  });

  it("has the position in its second line and the channel in its third", () => {
    const [, position, channel] = Buffer.from(signFeed(payload, keys), "base64url").toString("latin1").split("\n");
    expect([position, channel]).toEqual(["00k2.0000001", "room:1"]);
  });

  it.each([
    ["is valid when it was just issued", 0, false],
    ["is valid in the last second of its lifetime", LIFETIME_SECONDS - 1, false],
    ["is expired at the end of its lifetime", LIFETIME_SECONDS, true],
    ["is expired a day later", 2 * LIFETIME_SECONDS, true],
  ])("%s", (_title, seconds, expired) => {
    const feed = signFeed(payload, keys);
    expect(verifyFeed(feed, { sid: null, now: ISSUED_AT + seconds }, keys)).toMatchObject({ expired });
  });
});

describe("a feed that was issued to a sign-in", () => {
  const feed = signFeed({ ...payload, sid: "the-sign-in" }, keys);

  it("is valid for that sign-in", () => {
    expect(verifyFeed(feed, { sid: "the-sign-in", now: ISSUED_AT }, keys)).toMatchObject({ expired: false });
  });

  it.each([
    ["another sign-in", "another-sign-in"],
    ["a signed-out client", null],
    ["a sign-in whose id has the same prefix", "the-sign-in-"],
  ])("is expired for %s", (_presenter, sid) => {
    expect(verifyFeed(feed, { sid, now: ISSUED_AT }, keys)).toMatchObject({ channel: "room:1", expired: true });
  });

  it("does not contain the id of the sign-in", () => {
    expect(Buffer.from(feed, "base64url").toString("latin1")).not.toContain("the-sign-in");
  });
});

describe("a feed that was issued to a signed-out client", () => {
  it("is valid for a signed-in one too", () => {
    expect(verifyFeed(signFeed(payload, keys), { sid: "the-sign-in", now: ISSUED_AT }, keys)).toMatchObject({
      expired: false,
    });
  });
});

describe("verifyFeed", () => {
  const feed = signFeed({ ...payload, sid: "the-sign-in" }, keys);
  const presenter = { sid: "the-sign-in", now: ISSUED_AT };

  it("rejects a feed with any character changed [LIVE-1]", () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (let index = 0; index < feed.length; index++) {
      for (const char of alphabet) {
        if (char === feed[index]) continue;
        expect(verifyFeed(feed.slice(0, index) + char + feed.slice(index + 1), presenter, keys)).toBeNull();
      }
    }
  });

  it("rejects a feed with characters removed from or added to its end", () => {
    for (let length = 0; length < feed.length; length++) {
      expect(verifyFeed(feed.slice(0, length), presenter, keys)).toBeNull();
    }
    for (const suffix of ["A", "=", "==", " ", "\n", ".", "AAAA"]) {
      expect(verifyFeed(feed + suffix, presenter, keys)).toBeNull();
    }
  });

  it("rejects a feed that was signed with another key, or for another purpose", () => {
    const other = testConfig({ WEB_AUTH_SECRET: "77".repeat(32) });
    expect(verifyFeed(feed, presenter, keysFor(other, "feed"))).toBeNull();
    expect(verifyFeed(feed, presenter, keysFor(testConfig(), "session"))).toBeNull();
  });

  it("rejects any other text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(verifyFeed(text, presenter, keys)).toBeNull();
      }),
    );
    expect(verifyFeed("A".repeat(1_000_000), presenter, keys)).toBeNull();
  });

  it("accepts feeds of the previous secret until it is removed", () => {
    const before = testConfig({ WEB_AUTH_SECRET: OLD_SECRET });
    const both = testConfig({ WEB_AUTH_SECRET: NEW_SECRET, WEB_AUTH_SECRET_PREVIOUS: OLD_SECRET });
    const after = testConfig({ WEB_AUTH_SECRET: NEW_SECRET });
    const oldFeed = signFeed(payload, keysFor(before, "feed"));
    expect(verifyFeed(oldFeed, signedOut, keysFor(both, "feed"))).toMatchObject({ expired: false });
    expect(verifyFeed(oldFeed, signedOut, keysFor(after, "feed"))).toBeNull();
    expect(verifyFeed(signFeed(payload, keysFor(both, "feed")), signedOut, keysFor(before, "feed"))).toBeNull();
  });
});

describe("the tag of a channel", () => {
  it("is the same for every process with the secret", () => {
    expect(channelTag(keys, "room:1")).toBe(channelTag(keysFor(testConfig(), "feed"), "room:1"));
    expect(channelTag(keys, "room:1")).toMatch(/^[\w-]{11}$/);
  });

  it("differs for each channel, however similar the names are", () => {
    const names = ["room:1", "room:2", "Room:1", "room:1 ", "r", "ö", "c".repeat(128)];
    expect(new Set(names.map((name) => channelTag(keys, name))).size).toBe(names.length);
  });

  it("cannot be computed without the secret, or with the key of another purpose", () => {
    const tag = channelTag(keys, "room:1");
    expect(channelTag(keysFor(testConfig({ WEB_AUTH_SECRET: OLD_SECRET }), "feed"), "room:1")).not.toBe(tag);
    expect(channelTag(keysFor(testConfig(), "presence"), "room:1")).not.toBe(tag);
  });

  it("is none of the bytes of the feed of the channel", () => {
    const feed = Buffer.from(signFeed(payload, keys), "base64url");
    expect(feed.includes(Buffer.from(channelTag(keys, "room:1"), "base64url"))).toBe(false);
  });
});

describe("a cursor", () => {
  it("is parsed to the positions that it was formatted from", () => {
    const position = fc.stringMatching(/^[0-9A-Za-z.-]{1,40}$/);
    fc.assert(
      fc.property(fc.array(position, { minLength: 1, maxLength: 32 }), (positions) => {
        expect(parseCursor(formatCursor(positions), positions.length)).toEqual(positions);
      }),
    );
  });

  it("can mark a feed as ended", () => {
    expect(parseCursor(`a1,${ENDED},b2`, 3)).toEqual(["a1", ENDED, "b2"]);
  });

  it.each([
    ["too few positions", "a1", 2],
    ["too many positions", "a1,b2,c3", 2],
    ["no position", "", 1],
    ["an empty position", "a1,", 2],
    ["a space", "a1, b2", 2],
    ["a line break", "a1\n", 1],
    ["a position that is too long", "a".repeat(41), 1],
    ["characters that no position has", "a1/../b2", 1],
    ["100,000 positions", "a1,".repeat(100_000), 2],
  ])("is unusable with %s", (_error, text, count) => {
    expect(parseCursor(text, count)).toBeNull();
  });

  it("never throws, for any text", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(32), (text, count) => {
        const positions = parseCursor(text, count);
        expect(positions === null || positions.length === count).toBe(true);
      }),
    );
  });
});

describe("the later position", () => {
  it.each([
    ["that of the cursor, which is after that of the feed", "k.005", "k.007", "k.007"],
    ["that of the feed, which is after that of the cursor", "k.005", "k.004", "k.005"],
    ["either, if they are equal", "k.005", "k.005", "k.005"],
    ["that of the cursor, which has more digits", "170-9", "170-10", "170-10"],
    ["that of the feed, which has more digits", "170-10", "170-9", "170-10"],
  ])("is %s", (_which, feedPosition, cursorPosition, later) => {
    expect(laterPosition(feedPosition, cursorPosition)).toBe(later);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configWith } from "#test/visit";
import { keysFor } from "../session/index.ts";
import { FEED_SECONDS, type FeedContent, MAX_FEED_CHARS, openFeed, writeFeed } from "./feed.ts";

const OLD = "4b".repeat(32);
const NEW = "5a".repeat(32);
const keys = keysFor(configWith(), "feed");
const ISSUED = 1_780_000_000;
const content: FeedContent = { channel: "room:1", position: "00k2.0000001", sid: null, issued: ISSUED };
const nobody = { sid: null, now: ISSUED };

describe("a feed", () => {
  it("says which channel, and from where", () => {
    expect(openFeed(writeFeed(content, keys), nobody, keys)).toEqual({
      channel: "room:1",
      position: "00k2.0000001",
      expired: false,
    });
  });

  it("brings back any channel and position", () => {
    const names = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
      .filter((name) => !/[\p{Cc}\p{Cs}]/u.test(name) && Buffer.byteLength(name) <= 128);
    const positions = fc.stringMatching(/^[0-9A-Za-z.-]{1,40}$/);
    const sids = fc.option(fc.string({ minLength: 1 }));
    fc.assert(
      fc.property(names, positions, sids, (channel, position, sid) => {
        const feed = writeFeed({ channel, position, sid, issued: ISSUED }, keys);
        expect(feed.length).toBeLessThanOrEqual(MAX_FEED_CHARS);
        expect(openFeed(feed, { sid, now: ISSUED }, keys)).toEqual({ channel, position, expired: false });
      }),
    );
  });

  it("is at most 150 characters for a name of 40 and a position of 33", () => {
    const feed = writeFeed(
      { channel: "c".repeat(40), position: "p".repeat(33), sid: "s".repeat(22), issued: ISSUED },
      keys,
    );
    expect(feed.length).toBeLessThanOrEqual(150);
  });

  it("can be read by the browser as lines, the second and the third", () => {
    const [, position, channel] = Buffer.from(writeFeed(content, keys), "base64url").toString("latin1").split("\n");
    expect([position, channel]).toEqual(["00k2.0000001", "room:1"]);
  });

  it.each([
    ["at once", 0, false],
    ["a second before its time is over", FEED_SECONDS - 1, false],
    ["when its time is over", FEED_SECONDS, true],
    ["a day later", 2 * FEED_SECONDS, true],
  ])("%s", (_when, seconds, expired) => {
    const feed = writeFeed(content, keys);
    expect(openFeed(feed, { sid: null, now: ISSUED + seconds }, keys)).toMatchObject({ expired });
  });
});

describe("a feed that was issued to a sign-in", () => {
  const feed = writeFeed({ ...content, sid: "the-sign-in" }, keys);

  it("is theirs", () => {
    expect(openFeed(feed, { sid: "the-sign-in", now: ISSUED }, keys)).toMatchObject({ expired: false });
  });

  it.each([
    ["another", "another-sign-in"],
    ["none", null],
    ["one that begins alike", "the-sign-in-"],
  ])("is over for %s", (_who, sid) => {
    expect(openFeed(feed, { sid, now: ISSUED }, keys)).toMatchObject({ channel: "room:1", expired: true });
  });

  it("does not hold the sign-in's id", () => {
    expect(Buffer.from(feed, "base64url").toString("latin1")).not.toContain("the-sign-in");
  });

  it("issued to nobody, is anybody's", () => {
    expect(openFeed(writeFeed(content, keys), { sid: "the-sign-in", now: ISSUED }, keys)).toMatchObject({
      expired: false,
    });
  });
});

describe("what is no feed of ours", () => {
  const feed = writeFeed({ ...content, sid: "the-sign-in" }, keys);
  const presented = { sid: "the-sign-in", now: ISSUED };

  it("is one with any character changed", () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (let at = 0; at < feed.length; at++) {
      for (const char of alphabet) {
        if (char === feed[at]) continue;
        expect(openFeed(feed.slice(0, at) + char + feed.slice(at + 1), presented, keys)).toBeNull();
      }
    }
  });

  it("is one cut short or made longer", () => {
    for (let at = 0; at < feed.length; at++) expect(openFeed(feed.slice(0, at), presented, keys)).toBeNull();
    for (const more of ["A", "=", "==", " ", "\n", ".", "AAAA"])
      expect(openFeed(feed + more, presented, keys)).toBeNull();
  });

  it("is one of another key, or of another purpose's", () => {
    const other = configWith({ WEB_AUTH_SECRET: "77".repeat(32) });
    expect(openFeed(feed, presented, keysFor(other, "feed"))).toBeNull();
    expect(openFeed(feed, presented, keysFor(configWith(), "session"))).toBeNull();
  });

  it("is anything at all", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(openFeed(text, presented, keys)).toBeNull();
      }),
    );
    expect(openFeed("A".repeat(1_000_000), presented, keys)).toBeNull();
  });
});

describe("a change of keys", () => {
  it("leaves feeds of the key before as they are, until it is dropped", () => {
    const before = configWith({ WEB_AUTH_SECRET: OLD });
    const both = configWith({ WEB_AUTH_SECRET: NEW, WEB_AUTH_SECRET_PREVIOUS: OLD });
    const after = configWith({ WEB_AUTH_SECRET: NEW });
    const feed = writeFeed(content, keysFor(before, "feed"));
    expect(openFeed(feed, nobody, keysFor(both, "feed"))).toMatchObject({ expired: false });
    expect(openFeed(feed, nobody, keysFor(after, "feed"))).toBeNull();
    expect(openFeed(writeFeed(content, keysFor(both, "feed")), nobody, keysFor(before, "feed"))).toBeNull();
  });
});

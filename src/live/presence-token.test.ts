import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveKey, type PurposeKeys, sessionTag, signToken } from "../session/index.ts";
import { type PresencePayload, signPresence, splitPresenceToken, verifyPresence } from "./presence-token.ts";

const keysOf = (secret: string, purpose = "presence"): PurposeKeys => {
  const sign = deriveKey(secret, purpose, "tsweb");
  return { sign, verify: [sign] };
};
const keys = keysOf("a secret of 16 bytes or more");
const payload: PresencePayload = {
  channel: "board:1",
  id: "0123456789abcdefghijkl",
  user: "alice",
  data: '{"name":"Alice"}',
  sid: "sid of alice",
  issuedAt: 1_000,
  expiresAt: 2_000,
};
const presenter = { sid: "sid of alice", now: 1_500 };

describe("verifyPresence", () => {
  it("returns what was signed", () => {
    const { sid, ...rest } = payload;
    const expected = { ...rest, tag: sessionTag(sid ?? ""), expired: false };
    expect(verifyPresence(signPresence(payload, keys), presenter, keys)).toEqual(expected);
  });

  it("returns any channel, user and data unchanged", () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.string()), fc.jsonValue(), (channel, user, value) => {
        const signed = { ...payload, channel, user, data: JSON.stringify(value) };
        const verified = verifyPresence(signPresence(signed, keys), presenter, keys);
        expect(verified).toMatchObject({ channel, user, data: signed.data });
      }),
      { numRuns: 100 },
    );
  });

  it("rejects a token in which any character was changed [PRESENCE-1]", () => {
    const token = signPresence(payload, keys);
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
      expect(verifyPresence(changed, presenter, keys), `character ${at}`).toBeNull();
    }
  });

  it.each(["", ".", "a.b", "~", `${signPresence(payload, keys)}.`, "x".repeat(5000)])("rejects the text %j", (text) => {
    expect(verifyPresence(text, presenter, keys)).toBeNull();
  });

  it("rejects a token of another secret or purpose [PRESENCE-2]", () => {
    const token = signPresence(payload, keys);
    expect(verifyPresence(token, presenter, keysOf("another secret of 16 bytes"))).toBeNull();
    for (const purpose of ["feed", "session", "csrf"]) {
      expect(
        verifyPresence(signPresence(payload, keysOf("a secret of 16 bytes or more", purpose)), presenter, keys),
      ).toBeNull();
    }
  });

  it("accepts a token of a previous secret", () => {
    const previous = keysOf("the previous secret, 16 bytes");
    const both = { sign: keys.sign, verify: [...keys.verify, ...previous.verify] };
    expect(verifyPresence(signPresence(payload, previous), presenter, both)?.expired).toBe(false);
  });

  it("rejects a token of another version of tsweb", () => {
    expect(verifyPresence(signToken(keys.sign, "[2,2000]\nnull"), presenter, keys)).toBeNull();
  });

  it.each([
    { now: 1_999, expired: false },
    { now: 2_000, expired: true },
    { now: 2_001, expired: true },
  ])("returns expired: $expired at second $now if it is valid until 2000", ({ now, expired }) => {
    expect(verifyPresence(signPresence(payload, keys), { ...presenter, now }, keys)?.expired).toBe(expired);
  });

  it("returns a token as expired for another sign-in and for a signed-out client [PRESENCE-3]", () => {
    const token = signPresence(payload, keys);
    for (const sid of ["sid of bob", "", null]) {
      expect(verifyPresence(token, { ...presenter, sid }, keys)?.expired).toBe(true);
    }
  });

  it("accepts a token of a signed-out client from any client", () => {
    const token = signPresence({ ...payload, user: null, sid: null }, keys);
    for (const sid of ["sid of bob", null]) {
      expect(verifyPresence(token, { ...presenter, sid }, keys)).toMatchObject({
        user: null,
        tag: null,
        expired: false,
      });
    }
  });
});

describe("splitPresenceToken", () => {
  it("separates the version of the list that the page has", () => {
    const token = signPresence(payload, keys);
    expect(splitPresenceToken(token)).toEqual({ token, version: undefined });
    expect(splitPresenceToken(`${token}~abc!`)).toEqual({ token, version: "abc!" });
    expect(splitPresenceToken("")).toEqual({ token: "", version: undefined });
  });
});

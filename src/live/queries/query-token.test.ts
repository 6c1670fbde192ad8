import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_QUERY_TOKEN_CHARS } from "../../protocol/index.ts";
import { deriveKey, type PurposeKeys, sessionTag, signToken } from "../../session/index.ts";
import { type QueryPayload, queryId, signQuery, verifyQuery } from "./query-token.ts";

const SECRET = "a secret of 16 bytes or more";
const keysOf = (secret: string, purpose = "query", realm = "tsweb"): PurposeKeys => {
  const sign = deriveKey(secret, purpose, realm);
  return { sign, verify: [sign] };
};
const keys = keysOf(SECRET);
const payload: QueryPayload = {
  name: "cards",
  hash: "a1B2c3",
  channels: ["board:1", "boards"],
  argsText: '{"board":"1"}',
  sid: "sid of alice",
  expiresAt: 2_000,
};
const presenter = { sid: "sid of alice", now: 1_500 };

/** Returns a token of exactly this length. */
function tokenOfLength(length: number): string {
  for (let size = Math.floor(length * 0.6); size < length; size++) {
    const token = signQuery({ ...payload, argsText: `{"board":"${"x".repeat(size)}"}` }, keys);
    if (token.length === length) return token;
  }
  throw new Error(`No token has ${length} characters.`);
}

describe("verifyQuery", () => {
  it("returns what was signed", () => {
    const { sid, ...rest } = payload;
    const expected = { ...rest, tag: sessionTag(sid ?? ""), expired: false };
    expect(verifyQuery(signQuery(payload, keys), presenter, keys)).toEqual(expected);
  });

  it("returns any channels and arguments unchanged", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 20 }), { maxLength: 5 }), fc.jsonValue(), (channels, value) => {
        const signed = { ...payload, channels, argsText: JSON.stringify({ value }) };
        const token = signQuery(signed, keys);
        fc.pre(token.length <= MAX_QUERY_TOKEN_CHARS);
        expect(verifyQuery(token, presenter, keys)).toMatchObject({ channels, argsText: signed.argsText });
      }),
      { numRuns: 100 },
    );
  });

  it("rejects a token in which any character was changed, added or left out [QUERY-1]", () => {
    const token = signQuery(payload, keys);
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === "A" ? "B" : "A";
      const [before, after] = [token.slice(0, at), token.slice(at + 1)];
      for (const changed of [before + other + after, before + after, `${before}${other}${token.slice(at)}`]) {
        expect(verifyQuery(changed, presenter, keys), `character ${at}`).toBeNull();
      }
    }
  });

  it("rejects the parts of two tokens that were put together [QUERY-2]", () => {
    const [text] = signQuery({ ...payload, argsText: '{"board":"2"}' }, keys).split(".");
    const [, signature] = signQuery(payload, keys).split(".");
    expect(verifyQuery(`${text}.${signature}`, presenter, keys)).toBeNull();
  });

  it.each(["", ".", "a.b", "~", `${signQuery(payload, keys)}.`, `${signQuery(payload, keys)}~1`, "x".repeat(5000)])(
    "rejects the text %j",
    (text) => {
      expect(verifyQuery(text, presenter, keys)).toBeNull();
    },
  );

  it.each([undefined, null, 1, {}, [], [signQuery(payload, keys)]])("rejects %j, which is no text", (value) => {
    expect(verifyQuery(value, presenter, keys)).toBeNull();
  });

  it("rejects a token of another secret, purpose or realm [QUERY-3]", () => {
    const token = signQuery(payload, keys);
    expect(verifyQuery(token, presenter, keysOf("another secret of 16 bytes"))).toBeNull();
    expect(verifyQuery(token, presenter, keysOf(SECRET, "query", "shop"))).toBeNull();
    for (const purpose of ["feed", "session", "csrf", "presence"]) {
      expect(verifyQuery(signQuery(payload, keysOf(SECRET, purpose)), presenter, keys), purpose).toBeNull();
    }
  });

  it("accepts a token of a previous secret", () => {
    const previous = keysOf("the previous secret, 16 bytes");
    const both = { sign: keys.sign, verify: [...keys.verify, ...previous.verify] };
    expect(verifyQuery(signQuery(payload, previous), presenter, both)?.expired).toBe(false);
  });

  it("rejects a token of another version of tsweb", () => {
    expect(verifyQuery(signToken(keys.sign, "[2,2000]\n{}"), presenter, keys)).toBeNull();
  });

  it.each([
    { length: MAX_QUERY_TOKEN_CHARS - 1, accepted: true },
    { length: MAX_QUERY_TOKEN_CHARS, accepted: true },
    { length: MAX_QUERY_TOKEN_CHARS + 2, accepted: false },
  ])("returns $accepted for a signed token of $length characters", ({ length, accepted }) => {
    expect(verifyQuery(tokenOfLength(length), presenter, keys) !== null).toBe(accepted);
  });

  it.each([
    { now: 1_999, expired: false },
    { now: 2_000, expired: true },
    { now: 2_001, expired: true },
  ])("returns expired: $expired at second $now if it is valid until 2000 [QUERY-5]", ({ now, expired }) => {
    expect(verifyQuery(signQuery(payload, keys), { ...presenter, now }, keys)?.expired).toBe(expired);
  });

  it("returns a token as expired for another sign-in and for a signed-out client [QUERY-4]", () => {
    const token = signQuery(payload, keys);
    for (const sid of ["sid of bob", "", null]) {
      expect(verifyQuery(token, { ...presenter, sid }, keys)?.expired, String(sid)).toBe(true);
    }
  });

  it("accepts the token of a signed-out client from any client until it expires", () => {
    const token = signQuery({ ...payload, sid: null }, keys);
    for (const sid of ["sid of bob", null]) {
      expect(verifyQuery(token, { sid, now: 1_999 }, keys)).toMatchObject({ tag: null, expired: false });
      expect(verifyQuery(token, { sid, now: 2_000 }, keys)?.expired).toBe(true);
    }
  });

  it("does not contain the id of the sign-in, which revokes it", () => {
    const [text = ""] = signQuery(payload, keys).split(".");
    expect(Buffer.from(text, "base64url").toString()).not.toContain("sid of alice");
  });
});

describe("queryId", () => {
  it("is the same for equal parts, and has 16 characters of base64url", () => {
    expect(queryId(payload)).toMatch(/^[\w-]{16}$/);
    expect(queryId({ ...payload })).toBe(queryId(payload));
  });

  it.each([
    { name: "card" },
    { hash: "a1B2c4" },
    { channels: ["board:1"] },
    { channels: ["board:1,boards"] },
    { argsText: '{"board":"2"}' },
  ])("differs for other parts: %j", (changes) => {
    expect(queryId({ ...payload, ...changes })).not.toBe(queryId(payload));
  });

  it("does not depend on the sign-in or the expiry, so that pages of several users share a run", () => {
    expect(queryId({ ...payload, ...{ sid: null, expiresAt: 1 } })).toBe(queryId(payload));
  });
});

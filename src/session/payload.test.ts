import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_AGE_SECONDS, readPayload, writePayload } from "./payload.ts";

const NOW = 1_800_000_000;

/** A payload that is read, but for what a test changes; `undefined` leaves a field out. */
function payload(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({ sub: "ada", name: "Ada", sid: "s1", iat: NOW, exp: NOW + MAX_AGE_SECONDS, ...changes });
}

describe("writePayload", () => {
  it("holds sub, the claims, sid, iat and exp, seven days apart", () => {
    const written = JSON.parse(writePayload("ada", { name: "Ada", roles: ["admin"] }, NOW + 0.7));
    expect(written).toEqual({
      sub: "ada",
      name: "Ada",
      roles: ["admin"],
      sid: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
      iat: NOW,
      exp: NOW + 7 * 24 * 3600,
    });
  });

  it("gives every sign-in a sid of its own", () => {
    const sids = Array.from({ length: 1000 }, () => JSON.parse(writePayload("ada", {}, NOW)).sid);
    expect(new Set(sids).size).toBe(1000);
  });

  it.each([undefined, null, "", 0, 42, true, {}, [], ["ada"], Symbol("ada"), () => "ada", Object("ada")])(
    "refuses %s as a user id",
    (sub) => {
      expect(() => writePayload(sub, {}, NOW)).toThrow(TypeError);
      expect(() => writePayload(sub, {}, NOW)).toThrow("the user id must be a non-empty string");
    },
  );

  it("leaves out a claim that is undefined", () => {
    expect(Object.keys(JSON.parse(writePayload("ada", { name: undefined }, NOW)))).toEqual([
      "sub",
      "sid",
      "iat",
      "exp",
    ]);
  });
});

describe("readPayload", () => {
  it("gives sub and the claims, and the sid apart", () => {
    expect(readPayload(payload({ roles: ["admin"] }), NOW)).toEqual({
      user: { sub: "ada", name: "Ada", roles: ["admin"] },
      sid: "s1",
      exp: NOW + MAX_AGE_SECONDS,
    });
  });

  it("brings back whatever was written", () => {
    const claims = fc.dictionary(
      fc.string().filter((name) => !["sub", "sid", "iat", "exp", "__proto__"].includes(name)),
      fc.jsonValue({ noUnicodeString: false }),
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), claims, (sub, given) => {
        fc.pre(!JSON.stringify(given).includes("__proto__"));
        const session = readPayload(writePayload(sub, given, NOW), NOW);
        expect(session?.user).toEqual({ sub, ...JSON.parse(JSON.stringify(given)) });
      }),
    );
  });

  it("freezes the user through and through", () => {
    const user = readPayload(payload({ roles: ["admin"], a: { b: [{ c: {} }] } }), NOW)?.user;
    const seen: unknown[] = [];
    const visit = (value: unknown) => {
      if (typeof value !== "object" || value === null) return;
      seen.push(value);
      expect(Object.isFrozen(value)).toBe(true);
      Object.values(value).forEach(visit);
    };
    visit(user);
    expect(seen).toHaveLength(6);
    expect(() => Object.assign(user ?? {}, { sub: "root" })).toThrow(TypeError);
  });

  describe("in time", () => {
    it.each([
      // now, whether it is read
      ["at its start", NOW, true],
      ["half a second in", NOW + 0.5, true],
      ["a second before its end", NOW + MAX_AGE_SECONDS - 1, true],
      ["a moment before its end", NOW + MAX_AGE_SECONDS - 0.001, true],
      ["at its end", NOW + MAX_AGE_SECONDS, false],
      ["a moment after its end", NOW + MAX_AGE_SECONDS + 0.001, false],
      ["a year later", NOW + 365 * 24 * 3600, false],
      ["a minute before it began, another clock", NOW - 60, true],
      ["more than a minute before it began", NOW - 61, false],
      ["a year before it began", NOW - 365 * 24 * 3600, false],
    ])("%s", (_when, now, read) => {
      expect(readPayload(payload(), now) !== null).toBe(read);
    });

    it("is refused when it would outlive its seven days, though it began just now", () => {
      expect(readPayload(payload({ exp: NOW + MAX_AGE_SECONDS + 1 }), NOW)).toBeNull();
      expect(readPayload(payload({ exp: Number.MAX_SAFE_INTEGER }), NOW)).toBeNull();
    });

    it("may be shorter than seven days", () => {
      expect(readPayload(payload({ exp: NOW + 1 }), NOW)).not.toBeNull();
      expect(readPayload(payload({ exp: NOW + 1 }), NOW + 1)).toBeNull();
    });
  });

  it.each([
    ["no sub", { sub: undefined }],
    ["an empty sub", { sub: "" }],
    ["a number for a sub", { sub: 1 }],
    ["null for a sub", { sub: null }],
    ["a list for a sub", { sub: ["ada"] }],
    ["an object for a sub", { sub: { ada: 1 } }],
    ["no sid", { sid: undefined }],
    ["an empty sid", { sid: "" }],
    ["a number for a sid", { sid: 7 }],
    ["no exp", { exp: undefined }],
    ["null for an exp", { exp: null }],
    ["a text for an exp", { exp: String(NOW + 100) }],
    ["true for an exp", { exp: true }],
    ["a list for an exp", { exp: [NOW + 100] }],
    ["an object for an exp", { exp: {} }],
    ["a fraction for an exp", { exp: NOW + 100.5 }],
    ["more than numbers hold for an exp", { exp: 1e300 }],
    ["a negative exp", { exp: -1 }],
    ["nought for an exp", { exp: 0 }],
    ["no iat", { iat: undefined }],
    ["a text for an iat", { iat: String(NOW) }],
    ["null for an iat", { iat: null }],
    ["an iat in the far future", { iat: NOW + 10_000, exp: NOW + 20_000 }],
    ["an iat long past, which its exp outlives", { iat: 0 }],
  ])("refuses %s", (_what, changes) => {
    expect(readPayload(payload(changes), NOW)).toBeNull();
  });

  it("refuses a number that JSON can write and numbers cannot hold", () => {
    expect(readPayload(payload().replace(/"exp":\d+/, '"exp":1e999'), NOW)).toBeNull();
  });

  it.each([
    "",
    " ",
    "null",
    "true",
    "1",
    '"ada"',
    "[]",
    '[{"sub":"ada"}]',
    "{",
    "{}",
    "undefined",
    "{'sub':'ada'}",
    "\0",
  ])("refuses %j", (text) => {
    expect(readPayload(text, NOW)).toBeNull();
  });

  it("refuses a payload with __proto__, and lets none reach a prototype", () => {
    const text = payload().replace("{", '{"__proto__":{"roles":["admin"]},');
    expect(readPayload(text, NOW)).toBeNull();
    expect(({} as { roles?: unknown }).roles).toBeUndefined();
  });

  it("does not take a field of every object for one of the payload", () => {
    expect(readPayload(payload({ sub: undefined }), NOW)).toBeNull();
    const user = readPayload(payload({ constructor: "a claim like another" }), NOW)?.user;
    expect(user).toHaveProperty("constructor", "a claim like another");
  });

  it("never throws", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.object().map((object) => payload(object)),
        ),
        (text) => {
          const session = readPayload(text, NOW);
          expect(session === null || typeof session.user.sub === "string").toBe(true);
        },
      ),
    );
  });
});

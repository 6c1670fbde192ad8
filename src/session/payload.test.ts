import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter, anyText } from "#test/any-text";
import { haveSameClass } from "#test/hidden-class";
import { createPayload, MAX_AGE_SECONDS, parsePayload } from "./payload.ts";

const NOW = 1_800_000_000;

/** Returns a valid payload with changes. `undefined` omits a field. */
function payload(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({ sub: "ada", name: "Ada", sid: "s1", iat: NOW, exp: NOW + MAX_AGE_SECONDS, ...changes });
}

describe("createPayload", () => {
  it("contains sub, the claims, sid, iat, and exp 7 days later [SESSION-9]", () => {
    const written = JSON.parse(createPayload("ada", { name: "Ada", roles: ["admin"] }, { nowSeconds: NOW + 0.7 }));
    expect(written).toEqual({
      sub: "ada",
      name: "Ada",
      roles: ["admin"],
      sid: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
      iat: NOW,
      exp: NOW + 7 * 24 * 3600,
    });
  });

  it("creates a new sid for every sign-in", () => {
    const sids = Array.from({ length: 1000 }, () => JSON.parse(createPayload("ada", {}, { nowSeconds: NOW })).sid);
    expect(new Set(sids).size).toBe(1000);
  });

  it.each([undefined, null, "", 0, 42, true, {}, [], ["ada"], Symbol("ada"), () => "ada", Object("ada")])(
    "refuses %s as a user id",
    (sub) => {
      expect(() => createPayload(sub, {}, { nowSeconds: NOW })).toThrow(TypeError);
      expect(() => createPayload(sub, {}, { nowSeconds: NOW })).toThrow("the user id must be a non-empty string");
    },
  );

  it.each([
    [{ id: 1 }, "Received: an object. Pass its id: session.login(String(user.id), claims)."],
    [Promise.resolve("ada"), "Received: a promise. Await it."],
    [["ada"], "Received: an array. Pass the id of one user."],
    [1, "Received: number. Convert a number with String(id)."],
    [1n, "Received: bigint. Convert a number with String(id)."],
    [true, "Received: boolean."],
    [undefined, "Received: undefined."],
    [null, "Received: null."],
    ["", "Received: an empty string."],
  ])("describes what was received in place of a user id, and how to fix it: %s", (sub, description) => {
    expect(() => createPayload(sub, {}, { nowSeconds: NOW })).toThrow(
      new TypeError(`session.login: the user id must be a non-empty string. ${description}`),
    );
  });

  it("omits a claim that is undefined", () => {
    expect(Object.keys(JSON.parse(createPayload("ada", { name: undefined }, { nowSeconds: NOW })))).toEqual([
      "sub",
      "sid",
      "iat",
      "exp",
    ]);
  });
});

describe("parsePayload", () => {
  it("returns users with the same claims that share one hidden class, so that each takes little memory", () => {
    const users = Array.from({ length: 100 }, (_, i) => parsePayload(payload({ sub: String(i) }), NOW)?.user ?? {});
    const [last, ...others] = users.slice(-10).reverse();
    expect(others.map((user) => haveSameClass(user, last as object))).toEqual(Array(9).fill(true));
  });

  it("returns sub and the claims as the user, and sid, iat, exp and the position beside it", () => {
    expect(parsePayload(payload({ roles: ["admin"], rev_pos: "e1.z" }), NOW)).toMatchObject({
      user: { sub: "ada", name: "Ada", roles: ["admin"] },
      ...{ sid: "s1", iat: NOW, exp: NOW + MAX_AGE_SECONDS, position: { epoch: "e1", seq: 35 } },
    });
  });

  it.each([undefined, null, 5, "", "e1", "e1.", ".z", "E1.z", "e1.z.z", "e1.-1", `e1.${"z".repeat(9)}`, {}, ["e1.z"]])(
    "accepts the position %j as none, and never as a claim",
    (rev_pos) => {
      const session = parsePayload(payload({ rev_pos }), NOW);
      expect(session?.position).toBeNull();
      expect(session?.user).toEqual({ sub: "ada", name: "Ada" });
    },
  );

  it("reports by how many seconds a session was issued in the future, if only that is wrong with it", () => {
    const reported: number[] = [];
    const read = (changes: Record<string, unknown>) =>
      parsePayload(payload({ iat: NOW + 90, exp: NOW + 90 + MAX_AGE_SECONDS, ...changes }), NOW, (seconds) =>
        reported.push(seconds),
      );
    expect(read({ exp: NOW + 91 + MAX_AGE_SECONDS })).toBeNull();
    expect(read({ sid: "" })).toBeNull();
    expect(reported).toEqual([]);
    expect(read({})).toBeNull();
    expect(reported).toEqual([90]);
    expect(read({ iat: NOW + 60, exp: NOW + 60 + MAX_AGE_SECONDS })).not.toBeNull();
    expect(reported).toEqual([90]);
  });

  it("returns every user id and all claims as they were written", () => {
    const claims = fc.dictionary(
      fc.string().filter((name) => !["sub", "sid", "iat", "exp", "rev_pos", "__proto__"].includes(name)),
      fc.jsonValue({ stringUnit: anyCharacter }),
    );
    fc.assert(
      fc.property(anyText({ minLength: 1 }), claims, (sub, values) => {
        fc.pre(!JSON.stringify(values).includes("__proto__"));
        const session = parsePayload(createPayload(sub, values, { nowSeconds: NOW }), NOW);
        expect(session?.user).toEqual({ sub, ...JSON.parse(JSON.stringify(values)) });
      }),
    );
  });

  it("freezes the user deeply", () => {
    const user = parsePayload(payload({ roles: ["admin"], a: { b: [{ c: {} }] } }), NOW)?.user;
    const frozen: unknown[] = [];
    const visit = (value: unknown) => {
      if (typeof value !== "object" || value === null) return;
      frozen.push(value);
      expect(Object.isFrozen(value)).toBe(true);
      Object.values(value).forEach(visit);
    };
    visit(user);
    expect(frozen).toHaveLength(6);
    expect(() => Object.assign(user ?? {}, { sub: "root" })).toThrow(TypeError);
  });

  describe("checks the time", () => {
    it.each([
      // now, whether the payload is valid
      ["at its start: valid", NOW, true],
      ["half a second after its start: valid", NOW + 0.5, true],
      ["a second before its end: valid", NOW + MAX_AGE_SECONDS - 1, true],
      ["a millisecond before its end: valid", NOW + MAX_AGE_SECONDS - 0.001, true],
      ["at its end: not valid", NOW + MAX_AGE_SECONDS, false],
      ["a millisecond after its end: not valid", NOW + MAX_AGE_SECONDS + 0.001, false],
      ["a year after its start: not valid", NOW + 365 * 24 * 3600, false],
      ["a minute before its start, by another clock: valid", NOW - 60, true],
      ["more than a minute before its start: not valid", NOW - 61, false],
      ["a year before its start: not valid", NOW - 365 * 24 * 3600, false],
    ])("of a payload that is read %s [SESSION-10]", (_when, now, isValid) => {
      expect(parsePayload(payload(), now) !== null).toBe(isValid);
    });

    it("refuses a lifetime over 7 days, also at its start [SESSION-8]", () => {
      expect(parsePayload(payload({ exp: NOW + MAX_AGE_SECONDS + 1 }), NOW)).toBeNull();
      expect(parsePayload(payload({ exp: Number.MAX_SAFE_INTEGER }), NOW)).toBeNull();
    });

    it("accepts a lifetime under 7 days", () => {
      expect(parsePayload(payload({ exp: NOW + 1 }), NOW)).not.toBeNull();
      expect(parsePayload(payload({ exp: NOW + 1 }), NOW + 1)).toBeNull();
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
    ["a string for an exp", { exp: String(NOW + 100) }],
    ["true for an exp", { exp: true }],
    ["a list for an exp", { exp: [NOW + 100] }],
    ["an object for an exp", { exp: {} }],
    ["a fraction for an exp", { exp: NOW + 100.5 }],
    ["an exp beyond safe integers", { exp: 1e300 }],
    ["a negative exp", { exp: -1 }],
    ["zero for an exp", { exp: 0 }],
    ["no iat", { iat: undefined }],
    ["a string for an iat", { iat: String(NOW) }],
    ["null for an iat", { iat: null }],
    ["an iat in the far future", { iat: NOW + 10_000, exp: NOW + 20_000 }],
    ["an exp more than 7 days after its iat", { iat: 0 }],
  ])("refuses a payload with %s", (_what, changes) => {
    expect(parsePayload(payload(changes), NOW)).toBeNull();
  });

  it("refuses a number of JSON that is infinite in JavaScript", () => {
    expect(parsePayload(payload().replace(/"exp":\d+/, '"exp":1e999'), NOW)).toBeNull();
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
  ])("refuses the text %j", (text) => {
    expect(parsePayload(text, NOW)).toBeNull();
  });

  it("refuses a payload with __proto__, and changes no prototype [REQUEST-83]", () => {
    const text = payload().replace("{", '{"__proto__":{"roles":["admin"]},');
    expect(parsePayload(text, NOW)).toBeNull();
    expect(Reflect.get({}, "roles")).toBeUndefined();
  });

  it("does not read inherited fields, and accepts a claim named constructor", () => {
    expect(parsePayload(payload({ sub: undefined }), NOW)).toBeNull();
    const user = parsePayload(payload({ constructor: "an ordinary claim" }), NOW)?.user;
    expect(user).toHaveProperty("constructor", "an ordinary claim");
  });

  it("never throws, for any payload", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.object().map((object) => payload(object)),
        ),
        (text) => {
          const session = parsePayload(text, NOW);
          expect(session === null || typeof session.user.sub === "string").toBe(true);
        },
      ),
    );
  });
});

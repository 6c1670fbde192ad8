import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { requestContext, runWithCookie, signInCookie, testConfig } from "#test/request-context";
import type { Config } from "../config/config.ts";
import { runInContext } from "../http/index.ts";
import { keysFor } from "./keys.ts";
import { session } from "./session.ts";
import { signToken } from "./token.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A cookie with any payload at all, signed with the right key. */
function signed(payload: unknown, own: Config = testConfig()): string {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  return `web_session=${signToken(keysFor(own, "session").sign, text)}`;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the user of a cookie that is not right is null, without an error:", () => {
  const cookie = signInCookie("ada", { roles: ["admin"] });
  const [name, token = ""] = cookie.split(/=(.*)/s);

  it("changed at any one character", () => {
    vi.setSystemTime(Date.now());
    const fresh = signInCookie("ada");
    const value = fresh.slice("web_session=".length);
    for (let at = 0; at < value.length; at++) {
      for (const character of ["A", "B", "z", "0", "-", "_", ".", "=", "~"]) {
        if (value[at] === character) continue;
        const changed = `web_session=${value.slice(0, at)}${character}${value.slice(at + 1)}`;
        if (runWithCookie(changed, () => session.user()) !== null) expect.fail(`${character} at ${at} was taken`);
      }
    }
  });

  it.each([
    ["empty", ""],
    ["a dot", "."],
    ["no signature", token.split(".")[0]],
    ["an empty signature", `${token.split(".")[0]}.`],
    ["no payload", `.${token.split(".")[1]}`],
    ["another cookie's text", "GA1.2.1234.5678"],
    ["quoted", `"${token}"`],
    ["percent-encoded", token.replace(/^./, (c) => `%${c.charCodeAt(0).toString(16)}`)],
    ["padded", `${token}=`],
    ["followed by more", `${token}.x`],
    ["twice itself", `${token}${token}`],
    ["a JSON text", '{"sub":"ada"}'],
    ["a web token without a signature", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."],
    ["16 KB long", "A".repeat(16_384)],
    ["thousands of dots", ".".repeat(4_000)],
  ])("%s", (_what, value) => {
    expect(runWithCookie(`${name}=${value}`, () => session.user())).toBeNull();
  });

  const iat = NOW / 1000;
  const good = { sub: "ada", sid: "s", iat, exp: iat + 100 };
  it("(what the next ones change is right)", () => {
    expect(runWithCookie(signed(good), () => session.user())).toEqual({ sub: "ada" });
  });

  it.each([
    ["no object", "[]"],
    ["null", "null"],
    ["a string", '"ada"'],
    ["a number", "1"],
    ["no JSON", "{sub:ada}"],
    ["nothing", ""],
    ["without sub", { ...good, sub: undefined }],
    ["with an empty sub", { ...good, sub: "" }],
    ["with a number for a sub", { ...good, sub: 1 }],
    ["without sid", { ...good, sid: undefined }],
    ["without exp", { ...good, exp: undefined }],
    ["with a text for an exp", { ...good, exp: "9999999999" }],
    ["expired", { ...good, exp: iat }],
    ["without iat", { ...good, iat: undefined }],
    ["from the far future", { ...good, iat: iat + 3600, exp: iat + 7200 }],
    ["longer than seven days", { ...good, exp: iat + 604_801 }],
  ])("well signed, its payload %s", (_what, payload) => {
    expect(runWithCookie(signed(payload), () => session.user())).toBeNull();
  });

  it("signed for another purpose, with the same secret", () => {
    const own = testConfig({ WEB_CSRF_SECRET: "5a".repeat(32) });
    for (const purpose of ["feed", "csrf"] as const) {
      const foreign = signToken(keysFor(own, purpose).sign, JSON.stringify(good));
      expect(runWithCookie(`web_session=${foreign}`, () => session.user(), own)).toBeNull();
    }
  });

  it("sent twice, in any order, also when both are the same", () => {
    const fresh = signInCookie("ada");
    const planted = signInCookie("mallory");
    for (const both of [
      `${fresh}; ${planted}`,
      `${planted}; ${fresh}`,
      `${fresh}; ${fresh}`,
      `web_session=; ${fresh}`,
    ]) {
      expect(runWithCookie(both, () => session.user())).toBeNull();
    }
  });

  it("without the prefix where cookies are secure, or with it where they are not", () => {
    const secure = testConfig({ WEB_COOKIE_SECURE: "1" });
    expect(runWithCookie(signInCookie("ada"), () => session.user(), secure)).toBeNull();
    expect(runWithCookie(signInCookie("ada", {}, secure), () => session.user())).toBeNull();
    const both = `${signInCookie("mallory")}; ${signInCookie("ada", {}, secure)}`;
    expect(runWithCookie(both, () => session.user(), secure)).toEqual({ sub: "ada" });
  });

  it("of any text whatever", () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab.=_-"%{}[]:, ;') });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(runWithCookie(`web_session=${a}; ${b}`, () => session.user())).toBeNull();
      }),
    );
  });
});

describe("when the session's cookie grows", () => {
  /** Signs in with a claim so long that the cookie, name and all, has just this many bytes. */
  function signInWithSize(bytes: number, own: Config): string {
    const lengthWith = (claim: number) => signInCookie("a", { c: "x".repeat(claim) }, own).length;
    const claim = Math.floor(((bytes - lengthWith(0)) * 3) / 4);
    for (const length of [claim - 1, claim, claim + 1, claim + 2]) {
      const payload = { sub: "a", c: "x".repeat(length), sid: "x".repeat(22), iat: 1767323045, exp: 1767927845 };
      const name = own.cookieSecure ? "__Host-web_session" : "web_session";
      const size = name.length + 1 + signToken(keysFor(own, "session").sign, JSON.stringify(payload)).length;
      if (size === bytes) return signInCookie("a", { c: "x".repeat(length) }, own);
    }
    throw new Error(`No claim makes a cookie of ${bytes} bytes.`);
  }
  const plain = testConfig();
  const secure = testConfig({ WEB_COOKIE_SECURE: "1" });

  // Base64 has no texts of 4n + 1 characters, so not every size exists under both names.
  it.each([
    [4095, plain],
    [4096, plain],
    [4094, secure],
    [4095, secure],
  ])("to %i bytes, it is kept", (bytes, own) => {
    const cookie = signInWithSize(bytes, own);
    expect(cookie.length).toBe(bytes);
    expect(runWithCookie(cookie, () => session.user()?.sub, own)).toBe("a");
  });

  it.each([
    [4097, secure],
    [4098, plain],
  ])("to %i bytes, it is refused and its size is named", (bytes, own) => {
    expect(() => signInWithSize(bytes, own)).toThrow(RangeError);
    expect(() => signInWithSize(bytes, own)).toThrow(`would be ${bytes} bytes, and browsers drop one over 4096`);
  });

  it("counts bytes, not characters", () => {
    expect(() => signInCookie("a", { name: "é".repeat(1500) })).toThrow(RangeError);
    expect(() => signInCookie("a", { name: "e".repeat(1500) })).not.toThrow();
  });

  it("leaves the session as it was when it is refused", () => {
    const context = requestContext(signInCookie("grace"));
    runInContext(context, () => {
      expect(() => session.login("ada", { long: "x".repeat(5000) })).toThrow(RangeError);
      expect(session.user()).toEqual({ sub: "grace" });
    });
    expect([...context.setCookieHeaders]).toEqual([]);
  });
});

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { requestContext, runWithCookie, signInCookie, testConfig } from "#test/request-context";
import type { Config } from "../config/index.ts";
import { runInContext } from "../http/index.ts";
import { keysFor } from "./keys.ts";
import { session } from "./session.ts";
import { signToken } from "./token.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Returns a session cookie with an arbitrary payload, signed with the right key. */
function signedCookie(payload: unknown, config: Config = testConfig()): string {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  return `web_session=${signToken(keysFor(config, "session").sign, text)}`;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("an invalid session cookie means signed out, without an error: a cookie", () => {
  const cookie = signInCookie("ada", { roles: ["admin"] });
  const [name, token = ""] = cookie.split(/=(.*)/s);

  it("with any one character changed [SESSION-1]", () => {
    vi.setSystemTime(Date.now());
    const fresh = signInCookie("ada");
    const value = fresh.slice("web_session=".length);
    for (let at = 0; at < value.length; at++) {
      for (const character of ["A", "B", "z", "0", "-", "_", ".", "=", "~"]) {
        if (value[at] === character) continue;
        const changed = `web_session=${value.slice(0, at)}${character}${value.slice(at + 1)}`;
        if (runWithCookie(changed, () => session.user()) !== null) expect.fail(`${character} at ${at} was accepted`);
      }
    }
  });

  it.each([
    ["that is empty", ""],
    ["that is a dot", "."],
    ["without a signature", token.split(".")[0]],
    ["with an empty signature", `${token.split(".")[0]}.`],
    ["without a payload", `.${token.split(".")[1]}`],
    ["with the value of another cookie", "GA1.2.1234.5678"],
    ["in quotes", `"${token}"`],
    ["in percent-encoding", token.replace(/^./, (c) => `%${c.charCodeAt(0).toString(16)}`)],
    ["with padding", `${token}=`],
    ["with a third part", `${token}.x`],
    ["that contains the token twice", `${token}${token}`],
    ["that is JSON", '{"sub":"ada"}'],
    ["that is a JSON Web Token without a signature", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."],
    ["of 16 KB", "A".repeat(16_384)],
    ["of 4,000 dots", ".".repeat(4_000)],
  ])("%s", (_what, value) => {
    expect(runWithCookie(`${name}=${value}`, () => session.user())).toBeNull();
  });

  const iat = NOW / 1000;
  const valid = { sub: "ada", sid: "s", iat, exp: iat + 100 };
  it("with the payload that the next tests change is valid", () => {
    expect(runWithCookie(signedCookie(valid), () => session.user())).toEqual({ sub: "ada" });
  });

  it.each([
    ["that is an array", "[]"],
    ["that is null", "null"],
    ["that is a string", '"ada"'],
    ["that is a number", "1"],
    ["that is not JSON", "{sub:ada}"],
    ["that is empty", ""],
    ["without sub", { ...valid, sub: undefined }],
    ["with an empty sub", { ...valid, sub: "" }],
    ["with a number for a sub", { ...valid, sub: 1 }],
    ["without sid", { ...valid, sid: undefined }],
    ["without exp", { ...valid, exp: undefined }],
    ["with a string for an exp", { ...valid, exp: "9999999999" }],
    ["that has expired", { ...valid, exp: iat }],
    ["without iat", { ...valid, iat: undefined }],
    ["issued in the future", { ...valid, iat: iat + 3600, exp: iat + 7200 }],
    ["valid for more than 7 days", { ...valid, exp: iat + 604_801 }],
  ])("with a valid signature over a payload %s", (_what, payload) => {
    expect(runWithCookie(signedCookie(payload), () => session.user())).toBeNull();
  });

  it("signed for another purpose with the same secret", () => {
    const config = testConfig({ WEB_CSRF_SECRET: "5a".repeat(32) });
    for (const purpose of ["feed", "csrf"] as const) {
      const foreign = signToken(keysFor(config, purpose).sign, JSON.stringify(valid));
      expect(runWithCookie(`web_session=${foreign}`, () => session.user(), config)).toBeNull();
    }
  });

  it("sent twice, in any order, also with equal values", () => {
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

  it("without the prefix __Host- if cookies are secure, or with it if they are not", () => {
    const secure = testConfig({ WEB_COOKIE_SECURE: "1" });
    expect(runWithCookie(signInCookie("ada"), () => session.user(), secure)).toBeNull();
    expect(runWithCookie(signInCookie("ada", {}, secure), () => session.user())).toBeNull();
    const both = `${signInCookie("mallory")}; ${signInCookie("ada", {}, secure)}`;
    expect(runWithCookie(both, () => session.user(), secure)).toEqual({ sub: "ada" });
  });

  it("of arbitrary text", () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab.=_-"%{}[]:, ;') });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(runWithCookie(`web_session=${a}; ${b}`, () => session.user())).toBeNull();
      }),
    );
  });
});

describe("the size of the session cookie", () => {
  /** Signs in with a claim so long that the cookie, with its name, has exactly this size. */
  function signInWithSize(bytes: number, config: Config): string {
    const lengthWith = (claim: number) => signInCookie("a", { c: "x".repeat(claim) }, config).length;
    const claim = Math.floor(((bytes - lengthWith(0)) * 3) / 4);
    for (const length of [claim - 1, claim, claim + 1, claim + 2]) {
      const payload = { sub: "a", c: "x".repeat(length), sid: "x".repeat(22), iat: 1767323045, exp: 1767927845 };
      const name = config.cookieSecure ? "__Host-web_session" : "web_session";
      const size = name.length + 1 + signToken(keysFor(config, "session").sign, JSON.stringify(payload)).length;
      if (size === bytes) return signInCookie("a", { c: "x".repeat(length) }, config);
    }
    throw new Error(`There is no claim for a cookie of ${bytes} bytes.`);
  }
  const plain = testConfig();
  const secure = testConfig({ WEB_COOKIE_SECURE: "1" });

  // The length of base64url without padding is never 4n + 1, so not every size exists under both names.
  it.each([
    [4095, plain],
    [4096, plain],
    [4094, secure],
    [4095, secure],
  ])("can be %i bytes", (bytes, config) => {
    const cookie = signInWithSize(bytes, config);
    expect(cookie.length).toBe(bytes);
    expect(runWithCookie(cookie, () => session.user()?.sub, config)).toBe("a");
  });

  it.each([
    [4097, secure],
    [4098, plain],
  ])("cannot be %i bytes, and the error names the size", (bytes, config) => {
    expect(() => signInWithSize(bytes, config)).toThrow(RangeError);
    expect(() => signInWithSize(bytes, config)).toThrow(
      `would be ${bytes} bytes, and browsers do not store cookies over 4096`,
    );
  });

  it("is counted in bytes, not in characters", () => {
    expect(() => signInCookie("a", { name: "é".repeat(1500) })).toThrow(RangeError);
    expect(() => signInCookie("a", { name: "e".repeat(1500) })).not.toThrow();
  });

  it("does not change the session if it is over the limit", () => {
    const context = requestContext(signInCookie("grace"));
    runInContext(context, () => {
      expect(() => session.login("ada", { long: "x".repeat(5000) })).toThrow(RangeError);
      expect(session.user()).toEqual({ sub: "grace" });
    });
    expect([...context.setCookieHeaders]).toEqual([]);
  });
});

describe("a session cookie with another name", () => {
  const named = testConfig({ WEB_SESSION_COOKIE: "shop_session" });
  const secure = testConfig({ WEB_SESSION_COOKIE: "shop_session", WEB_COOKIE_SECURE: "1" });
  const user = (cookie: string, config: Config) => runWithCookie(cookie, () => session.user()?.sub, config);

  it("is set, read and removed, and the default name is not read", () => {
    const cookie = signInCookie("ada", {}, named);
    expect(cookie).toMatch(/^shop_session=/);
    expect(user(cookie, named)).toBe("ada");
    expect(user(cookie.replace("shop_session", "web_session"), named)).toBeUndefined();
    expect(user(`${cookie}; ${signInCookie("eve")}`, named)).toBe("ada");
    const context = requestContext(cookie, named);
    runInContext(context, () => session.logout());
    expect([...context.setCookieHeaders].at(-1)).toMatch(/^shop_session=; Max-Age=0;/);
  });

  it("is never read without the prefix if cookies are secure [SESSION-46]", () => {
    const cookie = signInCookie("ada", {}, secure);
    expect(cookie).toMatch(/^__Host-shop_session=/);
    expect(user(cookie, secure)).toBe("ada");
    const planted = signInCookie("eve", {}, named);
    for (const name of ["shop_session", "web_session", "__Host-web_session", "__host-shop_session"]) {
      expect(user(planted.replace("shop_session", name), secure)).toBeUndefined();
      expect(user(`${planted.replace("shop_session", name)}; ${cookie}`, secure)).toBe("ada");
    }
  });
});

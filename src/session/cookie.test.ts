import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "#test/any-text";
import { runWithCookie, testConfig } from "#test/request-context";
import { request } from "../http/index.ts";
import { cookieSize, findCookie } from "./cookie.ts";

describe("request.set_cookie", () => {
  it.each([false, true])("cannot set the session cookie, with secure cookies: %s", (secure) => {
    const config = testConfig({ WEB_COOKIE_SECURE: secure ? "1" : "0", WEB_SESSION_COOKIE: "shop" });
    const attempt = () => {
      expect(() => request.set_cookie(config.sessionCookie, "forged")).toThrow("session.login");
      expect(() => request.set_cookie(`${config.sessionCookie}2`, "other")).not.toThrow();
    };
    runWithCookie(undefined, attempt, config);
  });
});

describe("findCookie", () => {
  it.each([
    // the header, the value of web_session
    [null, null],
    ["", null],
    [";", null],
    ["=", null],
    ["web_session", null],
    ["web_session=", ""],
    ["web_session=a", "a"],
    ["web_session=a=b", "a=b"],
    ["web_session=a; other=b", "a"],
    ["other=b; web_session=a", "a"],
    ["other=b;web_session=a", "a"],
    ["other=b;\tweb_session\t=\ta\t;c=d", "a"],
    ["other; web_session=a", "a"],
    ["=web_session; web_session=a", "a"],
    ["=web_session=a", null],
    ["WEB_SESSION=a", null],
    ["xweb_session=a", null],
    ["web_sessionx=a", null],
    ["__Host-web_session=a", null],
    ["other=web_session=a", null],
    ["other=web_session; x=web_session", null],
    ['web_session="a"', '"a"'],
    ["web_session=%61", "%61"],
    ["web_session=a, other=b", "a, other=b"],
    ["$Version=1; web_session=a; $Path=/", "a"],
  ])("in the header %j returns %j", (header, value) => {
    expect(findCookie(header, "web_session")).toBe(value);
  });

  it.each([
    "web_session=a; web_session=b",
    "web_session=b; web_session=a",
    "web_session=a; web_session=a",
    "web_session=a; web_session=",
    "web_session=; web_session=a",
    "web_session=a; x=y; web_session=b; z=w",
    "web_session=a;web_session=b;web_session=c",
  ])("returns null for two cookies of the same name: %j", (header) => {
    expect(findCookie(header, "web_session")).toBeNull();
  });

  it("distinguishes the plain cookie from the prefixed one", () => {
    const both = "web_session=planted; __Host-web_session=ours";
    expect(findCookie(both, "__Host-web_session")).toBe("ours");
    expect(findCookie(both, "web_session")).toBe("planted");
    expect(findCookie("web_session=planted", "__Host-web_session")).toBeNull();
  });

  // Browsers treat these as other names, without the rules of the prefix. They must stay other names here.
  it.each(["\u00a0", "\u0085", "\u2000", "\ufeff", "\u000b", "\u000c", "\u0001", "\u3000", "\u2028"])(
    "does not trim %j from a name",
    (blank) => {
      expect(findCookie(`${blank}__Host-web_session=forged`, "__Host-web_session")).toBeNull();
      expect(findCookie(`__Host-web_session${blank}=forged`, "__Host-web_session")).toBeNull();
    },
  );

  it("returns any value that is sent once, among other cookies", () => {
    const part = fc.string({ unit: fc.constantFrom(..."abc=%\"' ,-_."), maxLength: 20 });
    fc.assert(
      fc.property(part, fc.array(part), fc.array(part), (value, before, after) => {
        const cookies = (parts: string[], name: string) => parts.map((text, i) => `${name}${i}=${text}`);
        const header = [...cookies(before, "x"), `web_session=${value}`, ...cookies(after, "y")].join("; ");
        expect(findCookie(header, "web_session")).toBe(value.replace(/^ +| +$/g, ""));
      }),
    );
  });

  it("never throws, and returns only a part of the header", () => {
    fc.assert(
      fc.property(anyText(), (header) => {
        const value = findCookie(header, "a");
        expect(value === null || header.includes(value)).toBe(true);
      }),
    );
  });

  it("reads a header of the maximum length in linear time", () => {
    expect(findCookie(`${"a=b; ".repeat(20_000)}web_session=c`, "web_session")).toBe("c");
    expect(findCookie(`web_session=${" ".repeat(100_000)}c`, "web_session")).toBe("c");
  });
});

describe("cookieSize", () => {
  it.each([
    ["a", "", 2],
    ["a", "b", 3],
    ["web_session", "x".repeat(100), 112],
    ["a", "é", 4],
  ])("for %s=%s returns %i bytes", (name, value, bytes) => {
    expect(cookieSize(name, value)).toBe(bytes);
  });
});

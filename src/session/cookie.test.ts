import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runWithCookie } from "#test/request-context";
import { request } from "../http/index.ts";
import { cookieSize, findCookie, isSessionCookie, sessionCookieName } from "./cookie.ts";

describe("the session cookie's name", () => {
  it("has the prefix that keeps sibling sites out when cookies are secure", () => {
    expect(sessionCookieName(false)).toBe("web_session");
    expect(sessionCookieName(true)).toBe("__Host-web_session");
  });

  it.each([
    ["web_session", true],
    ["__Host-web_session", true],
    ["web_session2", false],
    ["Web_Session", false],
    ["__Secure-web_session", false],
    [" web_session", false],
    ["", false],
  ])("%j: %s", (name, is) => {
    expect(isSessionCookie(name)).toBe(is);
  });
});

describe("request.set_cookie", () => {
  it.each([false, true])("leaves the session's cookie alone, secure: %s", (secure) => {
    const name = sessionCookieName(secure);
    runWithCookie(undefined, () => {
      expect(() => request.set_cookie(name, "forged")).toThrow("session.login");
      expect(() => request.set_cookie(`${name}2`, "theirs")).not.toThrow();
    });
  });
});

describe("findCookie", () => {
  it.each([
    // the header, what web_session is
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
  ])("in %j: %j", (header, value) => {
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
  ])("counts two of one name as none: %j", (header) => {
    expect(findCookie(header, "web_session")).toBeNull();
  });

  it("does not take the plain cookie for the prefixed one, nor the other way round", () => {
    const both = "web_session=planted; __Host-web_session=ours";
    expect(findCookie(both, "__Host-web_session")).toBe("ours");
    expect(findCookie(both, "web_session")).toBe("planted");
    expect(findCookie("web_session=planted", "__Host-web_session")).toBeNull();
  });

  // What a browser takes for another name, and so does not hold to the prefix's rules, must stay another name here.
  it.each(["\u00a0", "\u0085", "\u2000", "\ufeff", "\u000b", "\u000c", "\u0001", "\u3000", "\u2028"])(
    "does not trim %j off a name",
    (blank) => {
      expect(findCookie(`${blank}__Host-web_session=forged`, "__Host-web_session")).toBeNull();
      expect(findCookie(`__Host-web_session${blank}=forged`, "__Host-web_session")).toBeNull();
    },
  );

  it("finds whatever value is sent once, among others", () => {
    const part = fc.string({ unit: fc.constantFrom(..."abc=%\"' ,-_."), maxLength: 20 });
    fc.assert(
      fc.property(part, fc.array(part), fc.array(part), (value, before, after) => {
        const others = (parts: string[], name: string) => parts.map((text, i) => `${name}${i}=${text}`);
        const header = [...others(before, "x"), `web_session=${value}`, ...others(after, "y")].join("; ");
        expect(findCookie(header, "web_session")).toBe(value.replace(/^ +| +$/g, ""));
      }),
    );
  });

  it("never throws, and gives only what stands in the header", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (header) => {
        const value = findCookie(header, "a");
        expect(value === null || header.includes(value)).toBe(true);
      }),
    );
  });

  it("takes a header as long as servers let through in one pass", () => {
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
  ])("of %s=%s is %i bytes", (name, value, bytes) => {
    expect(cookieSize(name, value)).toBe(bytes);
  });
});

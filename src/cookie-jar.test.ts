import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { CookieJar } from "./cookie-jar.ts";

let now: number;
let jar: CookieJar;
beforeEach(() => {
  now = Date.UTC(2030, 0, 1);
  jar = new CookieJar(() => now);
});

describe("CookieJar", () => {
  it("sends nothing when it is empty", () => {
    expect(jar.cookieHeader()).toBeNull();
    expect(jar.all()).toEqual({});
  });

  it("stores the cookies of responses by name, the last one of a name", () => {
    jar.storeSetCookies(["a=1; Path=/; HttpOnly; SameSite=Lax", "b=2; Path=/elsewhere; Secure; Domain=other.example"]);
    jar.storeSetCookies(["a=3"]);
    expect(jar.cookieHeader()).toBe("a=3; b=2");
    expect(jar.all()).toEqual({ a: "3", b: "2" });
  });

  it("returns values without decoding them", () => {
    jar.storeSetCookies(["signed=a%3Db.c%2Fd=; Path=/", "empty=", "spaced=a b"]);
    expect(jar.cookieHeader()).toBe("signed=a%3Db.c%2Fd=; empty=; spaced=a b");
  });

  it.each([
    ["Max-Age=0", "a=; Max-Age=0"],
    ["a negative Max-Age", "a=1; Max-Age=-1"],
    ["an Expires in the past", "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"],
    ["Max-Age=0, regardless of Expires", "a=1; Max-Age=0; Expires=Thu, 01 Jan 2099 00:00:00 GMT"],
  ])("deletes a cookie that is removed by %s", (_, line) => {
    jar.storeSetCookies(["a=1", "b=2"]);
    jar.storeSetCookies([line]);
    expect(jar.cookieHeader()).toBe("b=2");
  });

  it("stores a cookie with Expires or Max-Age until then", () => {
    jar.storeSetCookies([
      "a=1; Max-Age=60",
      "b=2; Expires=Tue, 01 Jan 2030 00:02:00 GMT",
      "c=3",
      "d=4; Expires=nonsense",
    ]);
    now += 59_999;
    expect(jar.cookieHeader()).toBe("a=1; b=2; c=3; d=4");
    now += 1;
    expect(jar.cookieHeader()).toBe("b=2; c=3; d=4");
    now += 60_000;
    expect(jar.cookieHeader()).toBe("c=3; d=4");
  });

  it("gives Max-Age precedence over Expires", () => {
    jar.storeSetCookies(["a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]);
    expect(jar.cookieHeader()).toBe("a=1");
  });

  it("ignores a cookie without a name", () => {
    jar.storeSetCookies(["=1", "", "alone"]);
    expect(jar.cookieHeader()).toBeNull();
  });

  it("stores names like __proto__ and constructor", () => {
    jar.storeSetCookies(["__proto__=1", "constructor=2"]);
    expect(jar.cookieHeader()).toBe("__proto__=1; constructor=2");
    expect(Object.getPrototypeOf(jar.all())).toBeNull();
  });

  it("starts with the cookies of a header, which responses can change", () => {
    jar.storeCookieHeader("a=1; b=x%20y");
    jar.storeSetCookies(["a=2"]);
    expect(jar.cookieHeader()).toBe("a=2; b=x%20y");
  });

  it("deletes all cookies with clear()", () => {
    jar.storeSetCookies(["a=1"]);
    jar.clear();
    expect(jar.cookieHeader()).toBeNull();
  });

  it("returns any value that a cookie can have", () => {
    const value = fc.stringMatching(/^[!#-+\--:<-[\]-~]*$/);
    fc.assert(
      fc.property(value, (text) => {
        const fresh = new CookieJar();
        fresh.storeSetCookies([`name=${text}; Path=/`]);
        expect(fresh.cookieHeader()).toBe(`name=${text}`);
      }),
    );
  });
});

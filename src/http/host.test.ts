import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isValidHost } from "./host.ts";

describe("isValidHost", () => {
  it.each([
    "localhost",
    "LOCALHOST",
    "shop.example",
    "shop.example.",
    "shop.example:80",
    "shop.example:65535",
    "x:",
    "a-b.c_d.example",
    "_",
    "xn--bcher-kva.example:8080",
    "127.0.0.1",
    "127.0.0.1:3000",
    "[::1]",
    "[::1]:80",
    "[2001:db8::1]:8443",
    "[::ffff:192.0.2.1]",
    "a".repeat(255),
  ])("accepts %j", (host) => {
    expect(isValidHost(host)).toBe(true);
  });

  it.each([
    "",
    " ",
    "a b",
    " a",
    "a ",
    "a\tb",
    "a\r\nb",
    "a\u0000b",
    "a/b",
    "/",
    "a/__web/rpc/x?",
    "a\\b",
    "a?b",
    "a#b",
    "a@b",
    "user:password@b",
    "a,b",
    "a, b",
    "a;b",
    "a%2fb",
    "%00",
    "%61",
    "a*b",
    "a|b",
    "<a>",
    '"a"',
    "'a'",
    "a(b)",
    "a=b",
    "é",
    "bücher.example",
    "ａ.example",
    "a\u00adb",
    "x:99999",
    "x:65536",
    "x:-1",
    "x:1a",
    "localhost:80:80",
    "::1",
    "[::1",
    "::1]",
    "[::1]x",
    "[::1%25eth0]",
    "[127.0.0.1]",
    "[]",
    "256.256.256.256",
    "1.2.3.4.5",
    "http://a",
    "//a",
    ".".repeat(3).concat("/"),
    "a".repeat(261),
  ])("refuses %j", (host) => {
    expect(isValidHost(host)).toBe(false);
  });

  it("accepts no host that changes the path of a URL, or adds another part to it [REQUEST-78]", () => {
    const part = fc.constantFrom(
      "a",
      "b.example",
      "/",
      "\\",
      "?",
      "#",
      "@",
      ":",
      "80",
      "[",
      "]",
      "::1",
      "%2f",
      " ",
      "é",
      "..",
    );
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.array(part, { maxLength: 6 }).map((all) => all.join("")),
    );
    fc.assert(
      fc.property(text, (host) => {
        if (!isValidHost(host)) return;
        const { pathname, search, hash, username, password, port } = new URL(`http://${host}/path?query`);
        expect([pathname, search, hash, username, password]).toEqual(["/path", "?query", "", "", ""]);
        expect(Number(port)).toBeLessThan(65536);
      }),
      { numRuns: 2_000 },
    );
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "#test/any-text";
import {
  hasNeedlessEncoding,
  isCallPath,
  isUnambiguousTarget,
  isValidHost,
  isValidPath,
  pathBelowBase,
} from "./request-url.ts";

describe("isValidPath", () => {
  it.each([
    "/",
    "/a",
    "/a/b/",
    "/a%20b",
    "/%C3%A9",
    "/a%2Fb",
    "/a%2f",
    "/é",
    "/a.b/..c",
    "/%25",
    "/%2561",
    "/a%40b;c%3B",
  ])("accepts the path %s", (path) => {
    expect(isValidPath(path)).toBe(true);
  });

  it.each([
    "//",
    "//evil.example",
    "/a//b",
    "/%",
    "/%zz",
    "/%c3",
    "/a%00",
    "/a%0d%0ab",
    "/a%7f",
    "/a%5c..%5cb",
    "/a\\b",
    "/..%2f..%2fetc/passwd",
    "/%2e%2e/a",
    "/a/%2e",
    "/%61dmin",
    "/%41dmin",
    "/a%2db",
    "/a%5Fb",
    "/a%7E",
    "/robots%2Etxt",
    "/%30",
    "/dl/%2fetc%2fpasswd",
    "/%2Fetc/passwd",
    "/dl/a/%2fb",
    "/%5c",
  ])("refuses the path %s", (path) => {
    expect(isValidPath(path)).toBe(false);
  });

  it("never throws, for any path", () => {
    fc.assert(fc.property(anyText(), (path) => typeof isValidPath(`/${path}`) === "boolean"));
  });
});

describe("hasNeedlessEncoding", () => {
  it("finds every encoded letter, digit, -, ., _ and ~, in both cases of hexadecimal digits, and no other character [REQUEST-13]", () => {
    for (let code = 0; code < 256; code++) {
      const isUnreserved = /[A-Za-z0-9\-._~]/.test(String.fromCharCode(code));
      const digits = code.toString(16).padStart(2, "0");
      for (const hex of [digits, digits.toUpperCase()]) {
        expect([hex, hasNeedlessEncoding(`/a%${hex}b`)]).toEqual([hex, isUnreserved]);
      }
    }
  });

  it("finds nothing in what encodeURIComponent and the URL parser write", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(hasNeedlessEncoding(encodeURIComponent(text))).toBe(false);
        const { pathname } = new URL(`http://shop.example/${text.replaceAll("%", "%25")}`);
        expect(hasNeedlessEncoding(pathname)).toBe(false);
      }),
    );
  });
});

describe("isUnambiguousTarget", () => {
  it.each(["/", "/a/b", "/a.b/..c/d..", "/...", "/.well-known/x", "/%2efile", "/a?../b\\c#d", "/%252e%252e/a"])(
    "accepts the target %s",
    (target) => {
      expect(isUnambiguousTarget(target)).toBe(true);
    },
  );

  it.each([
    "/..",
    "/.",
    "/x/../admin",
    "/x/..",
    "/./admin?x",
    "/x/..?x",
    "/x/%2e%2E/admin",
    "/x/.%2e/admin",
    "/%2e/admin",
    "/x\\..\\admin",
    "/\\host",
    "/admin#x",
  ])("refuses the target %s", (target) => {
    expect(isUnambiguousTarget(target)).toBe(false);
  });

  it("accepts no target whose path the URL parser changes [REQUEST-77]", () => {
    const piece = fc.constantFrom("/", "//", ".", "..", "%2e", "%2E", "\\", "#", "?", "a", "%2F", "%");
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const target = `/${pieces.join("")}`;
        fc.pre(isUnambiguousTarget(target));
        expect(new URL(`http://host.example${target}`).pathname).toBe(target.split("?", 1)[0]);
      }),
    );
  });
});

describe("pathBelowBase", () => {
  it.each([
    ["/a", "", "/a"],
    ["/app", "/app", "/"],
    ["/app/", "/app", "/"],
    ["/app/a", "/app", "/a"],
    ["/apple", "/app", null],
    ["/", "/app", null],
  ])("for the path %s and the base %j returns %j", (path, base, expected) => {
    expect(pathBelowBase(path, base)).toBe(expected);
  });
});

describe("isCallPath", () => {
  it.each([
    ["/__web/rpc/add", "", true],
    ["/__web/rpc", "", false],
    ["/files/__web/rpc/add", "", false],
    ["/app/__web/rpc/add", "/app", true],
    ["/__web/rpc/add", "/app", false],
    ["/app/__web/rpc/add", null, true],
    ["/app", null, false],
  ])("for the path %s and the base %j returns %j", (path, base, expected) => {
    expect(isCallPath(path, base)).toBe(expected);
  });
});

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
      anyText({ maxLength: 12 }),
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

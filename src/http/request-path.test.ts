import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isUnambiguousTarget, isValidPath, pathBelowBase } from "./request-path.ts";

describe("isValidPath", () => {
  it.each(["/", "/a", "/a/b/", "/a%20b", "/%C3%A9", "/a%2Fb", "/é", "/a.b/..c", "/%25"])(
    "accepts the path %s",
    (path) => {
      expect(isValidPath(path)).toBe(true);
    },
  );

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
  ])("refuses the path %s", (path) => {
    expect(isValidPath(path)).toBe(false);
  });

  it("never throws, for any path", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (path) => typeof isValidPath(`/${path}`) === "boolean"));
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

  it("accepts no target whose path the URL parser changes", () => {
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

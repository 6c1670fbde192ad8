import fc from "fast-check";
import { expect, test } from "vitest";
import { isUnambiguousTarget } from "../http/index.ts";
import { isPlainPath } from "./request-head.ts";

const SEGMENTS = [
  "",
  "a",
  "A1",
  ".",
  "..",
  "...",
  ".a",
  "a.",
  "%61",
  "%2e",
  "%2f",
  "é",
  "a b",
  "a\\b",
  "a;b",
  "~a",
  "_",
  "-x",
];

test.each(["/", "/a", "/a/b.c", "/__web/rpc/echo", "/~ada", `/${"a".repeat(10_000)}`])(
  "takes a path of plain characters for one that URL returns unchanged: %.20s",
  (path) => {
    expect([isPlainPath(path), isPlainPath(path)]).toEqual([true, true]);
  },
);

test.each([
  "",
  "a",
  "//",
  "/a/",
  "/a//b",
  "/.",
  "/..",
  "/a/../b",
  "/.well-known",
  "/a?b",
  "/a#b",
  "/%61",
  "/a\\b",
  "*",
  "http://a/",
  "/a\n",
])("takes no other target for one: %j", (target) => {
  expect([isPlainPath(target), isPlainPath(target)]).toEqual([false, false]);
});

test("takes only targets for plain paths that URL returns unchanged, also those that it has seen before", () => {
  const target = fc
    .array(fc.oneof(fc.constantFrom(...SEGMENTS), fc.string({ maxLength: 4 })), { maxLength: 4 })
    .chain((segments) => fc.constantFrom("", "?a=b", "#c").map((end) => `/${segments.join("/")}${end}`));
  fc.assert(
    fc.property(target, (text) => {
      const isPlain = isPlainPath(text);
      expect(isPlainPath(text)).toBe(isPlain);
      if (!isPlain) return;
      const { pathname, search, hash } = new URL(`http://localhost${text}`);
      expect([pathname, search, hash, isUnambiguousTarget(text)]).toEqual([text, "", "", true]);
    }),
    { numRuns: 2_000 },
  );
});

test("keeps its answers while more paths arrive than it stores", () => {
  const paths = Array.from({ length: 2_500 }, (_, i) => `/page-${i}`);
  for (let repeat = 0; repeat < 2; repeat++) for (const path of paths) expect(isPlainPath(path)).toBe(true);
  expect(isPlainPath("/page-1?a")).toBe(false);
});

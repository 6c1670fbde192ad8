import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "#test/any-text";
import { contentDisposition } from "./index.ts";

describe("Content-Disposition", () => {
  it.each([
    ["report.pdf", 'attachment; filename="report.pdf"'],
    ["my report (1).pdf", 'attachment; filename="my report (1).pdf"'],
    ["Größe.txt", "attachment; filename=\"Gr__e.txt\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.txt"],
    ["€ 😀.txt", "attachment; filename=\"_ _.txt\"; filename*=UTF-8''%E2%82%AC%20%F0%9F%98%80.txt"],
    ['say "hi".txt', "attachment; filename=\"say _hi_.txt\"; filename*=UTF-8''say%20%22hi%22.txt"],
    ["50%41.txt", "attachment; filename=\"50_41.txt\"; filename*=UTF-8''50%2541.txt"],
    ["it's*(a).txt", 'attachment; filename="it\'s*(a).txt"'],
    ["ä'*().txt", "attachment; filename=\"_'*().txt\"; filename*=UTF-8''%C3%A4%27%2A%28%29.txt"],
    ["a/b/c.txt", 'attachment; filename="c.txt"'],
    ["..\\..\\c.txt", 'attachment; filename="c.txt"'],
    ["a\r\nSet-Cookie: x=1", 'attachment; filename="aSet-Cookie: x=1"'],
    ["\ud800a", 'attachment; filename="a"'],
    ["", 'attachment; filename="download"'],
    ["..", 'attachment; filename="download"'],
    ["a/", 'attachment; filename="download"'],
  ])("of %j is %s", (name, expected) => expect(contentDisposition("attachment", name)).toBe(expected));

  it("can be inline", () => expect(contentDisposition("inline", "a.png")).toBe('inline; filename="a.png"'));

  it("is a valid header for every name, and decodes to it", () => {
    const names = anyText({ minLength: 1 }).map((name) => name.replace(/[/\\\p{Cc}\p{Surrogate}]/gu, ""));
    fc.assert(
      fc.property(
        names.filter((name) => !/^\.{0,2}$/.test(name)),
        (name) => {
          const value = contentDisposition("attachment", name);
          expect(value).toMatch(
            /^attachment; filename="[ !#-[\]-~]*"(; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+)?$/,
          );
          expect(() => new Headers({ "content-disposition": value })).not.toThrow();
          const encoded = /UTF-8''(.*)$/.exec(value)?.[1];
          expect(encoded === undefined ? /"(.*)"/.exec(value)?.[1] : decodeURIComponent(encoded)).toBe(name);
        },
      ),
    );
  });
});

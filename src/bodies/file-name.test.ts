import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanFileName, decodeName, MAX_FILE_NAME_CHARS } from "./multipart.ts";

describe("the name of an uploaded file", () => {
  it.each([
    ["photo.png", "photo.png"],
    ["Ünï 😀.png", "Ünï 😀.png"],
    ["../../etc/passwd", "passwd"],
    ["/etc/passwd", "passwd"],
    ["C:\\Users\\ada\\photo.png", "photo.png"],
    ["..\\..\\boot.ini", "boot.ini"],
    ["..", ""],
    [".", ""],
    ["a/..", ""],
    ["a/", ""],
    [".htaccess", ".htaccess"],
    ["a\0.png", "a.png"],
    ["a\r\nSet-Cookie: x", "aSet-Cookie: x"],
    ["a%0D%0Ab", "ab"],
    ["say %22hi%22.txt", 'say "hi".txt'],
    ["100%25.txt", "100%25.txt"],
    [".\0.", ""],
    ["", ""],
  ])("of %j is %j", (claimed, name) => expect(cleanFileName(claimed)).toBe(name));

  it("is cut to its maximum length, and keeps its extension", () => {
    const name = cleanFileName(`${"x".repeat(1000)}.jpeg`);
    expect(name).toHaveLength(MAX_FILE_NAME_CHARS);
    expect(name.endsWith("x.jpeg")).toBe(true);
    expect(cleanFileName("x".repeat(MAX_FILE_NAME_CHARS))).toHaveLength(MAX_FILE_NAME_CHARS);
  });

  it("is never cut inside a character", () => {
    for (const length of [MAX_FILE_NAME_CHARS - 1, MAX_FILE_NAME_CHARS]) {
      const name = cleanFileName(`${"x".repeat(length - 1)}😀😀`);
      expect(name.isWellFormed?.() ?? true).toBe(true);
    }
  });

  it("is never a path, whatever the client sends [REQUEST-20]", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^([./\\\0%2]|0D|22|a)*$/)), (claimed) => {
        const name = cleanFileName(claimed);
        expect(name).not.toMatch(/[/\\\p{Cc}]|^\.\.?$/u);
        expect(name.length).toBeLessThanOrEqual(MAX_FILE_NAME_CHARS);
      }),
      { examples: [["."], [".."], ["a/.."], ["\\."], [".\0."]] },
    );
  });
});

describe("the name of a field", () => {
  it("is decoded as browsers encode it, and as nothing else", () => {
    expect(decodeName("a%22b%0D%0Ac%20%41")).toBe('a"b\r\nc%20%41');
  });
});

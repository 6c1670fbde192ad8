import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "#test/any-text";
import { decodeBase64Url, encodeBase64Url } from "./token.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

describe("base64url", () => {
  it.each([
    // RFC 4648, section 10, without the padding
    ["", ""],
    ["f", "Zg"],
    ["fo", "Zm8"],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg"],
    ["fooba", "Zm9vYmE"],
    ["foobar", "Zm9vYmFy"],
  ])("encodes %j as %j and decodes it again", (text, encoded) => {
    expect(encodeBase64Url(text)).toBe(encoded);
    expect(decodeBase64Url(encoded)?.toString()).toBe(text);
  });

  it("uses the URL-safe alphabet", () => {
    expect(encodeBase64Url(Uint8Array.of(0xfb, 0xff, 0xfe))).toBe("-__-");
  });

  it("encodes only the bytes of a view into a larger buffer", () => {
    expect(encodeBase64Url(Buffer.from("xfoox").subarray(1, 4))).toBe("Zm9v");
  });

  it.each([
    ["padding", "Zg=="],
    ["half of the padding", "Zg="],
    ["the plus of base64", "+__-"],
    ["the slash of base64", "-/_-"],
    ["unused bits that are set, after one byte", "Zh"],
    ["unused bits that are set, after two bytes", "Zm9"],
    ["a single character", "Z"],
    ["one character too many", "Zm9vY"],
    ["whitespace before", " Zm9v"],
    ["whitespace after", "Zm9v\n"],
    ["whitespace inside", "Zm 9v"],
    ["a character outside the alphabet", "Zm9v!"],
    ["percent-encoding", "%5Am9v"],
    ["a NUL", "Zm9v\0"],
    ["a full-width letter", "Zm9\uff56"],
    ["an unpaired surrogate", "Zm9v\ud800"],
  ])("refuses to decode %s", (_what, text) => {
    expect(decodeBase64Url(text)).toBeNull();
  });

  it("has exactly one text for each byte sequence", () => {
    const pairs = [...ALPHABET].flatMap((a) => [...ALPHABET].map((b) => a + b));
    const decodable = pairs.filter((text) => decodeBase64Url(text) !== null);
    const encoded = Array.from({ length: 256 }, (_, byte) => encodeBase64Url(Uint8Array.of(byte)));
    expect(decodable.sort()).toEqual(encoded.sort());
  });

  it("decodes all bytes that it encodes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(decodeBase64Url(encodeBase64Url(bytes))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it("decodes no other text than the one that it encodes to", () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), fc.base64String()), (text) => {
        const bytes = decodeBase64Url(text);
        expect(bytes === null || encodeBase64Url(bytes) === text).toBe(true);
      }),
    );
  });
});

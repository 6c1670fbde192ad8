import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  constantTimeEqual,
  decodeBase64Url,
  encodeBase64Url,
  hmacSha256,
  MAX_TOKEN_CHARS,
  signToken,
  verifyToken,
} from "./token.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const key = createSecretKey(Buffer.alloc(32, 7));
const otherKey = createSecretKey(Buffer.alloc(32, 8));

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
  ])("writes %j as %j and reads it back", (text, encoded) => {
    expect(encodeBase64Url(text)).toBe(encoded);
    expect(decodeBase64Url(encoded)?.toString()).toBe(text);
  });

  it("uses the URL-safe alphabet", () => {
    expect(encodeBase64Url(Uint8Array.of(0xfb, 0xff, 0xfe))).toBe("-__-");
  });

  it("writes a part of a larger buffer, and that part alone", () => {
    expect(encodeBase64Url(Buffer.from("xfoox").subarray(1, 4))).toBe("Zm9v");
  });

  it.each([
    ["padding", "Zg=="],
    ["half of its padding", "Zg="],
    ["the other alphabet's plus", "+__-"],
    ["the other alphabet's slash", "-/_-"],
    ["set trailing bits, one byte", "Zh"],
    ["set trailing bits, two bytes", "Zm9"],
    ["a single character", "Z"],
    ["a character too many", "Zm9vY"],
    ["white space before", " Zm9v"],
    ["white space after", "Zm9v\n"],
    ["white space inside", "Zm 9v"],
    ["a foreign character", "Zm9v!"],
    ["percent-encoding", "%5Am9v"],
    ["a NUL", "Zm9v\0"],
    ["letters that fold to ASCII", "Zm9\uff56"],
    ["a lone surrogate", "Zm9v\ud800"],
  ])("refuses %s", (_what, text) => {
    expect(decodeBase64Url(text)).toBeNull();
  });

  it("has exactly one text for each run of bytes", () => {
    const pairs = [...ALPHABET].flatMap((a) => [...ALPHABET].map((b) => a + b));
    const read = pairs.filter((text) => decodeBase64Url(text) !== null);
    const written = Array.from({ length: 256 }, (_, byte) => encodeBase64Url(Uint8Array.of(byte)));
    expect(read.sort()).toEqual(written.sort());
  });

  it("brings any bytes back", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(decodeBase64Url(encodeBase64Url(bytes))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it("reads any text as null, or as what it is the one text of", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.base64String()), (text) => {
        const bytes = decodeBase64Url(text);
        expect(bytes === null || encodeBase64Url(bytes) === text).toBe(true);
      }),
    );
  });
});

describe("mac", () => {
  it("is HMAC-SHA256", () => {
    // RFC 4231, test case 2
    expect(hmacSha256(createSecretKey(Buffer.from("Jefe")), "what do ya want for nothing?").toString("hex")).toBe(
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
  });

  it("takes a text as its UTF-8", () => {
    expect(hmacSha256(key, "é✓🔑")).toEqual(hmacSha256(key, Buffer.from("é✓🔑")));
  });
});

describe("sameBytes", () => {
  it.each([
    [[], [], true],
    [[1], [1], true],
    [[1, 2], [1, 2], true],
    [[1], [2], false],
    [[1], [1, 2], false],
    [[1, 2], [1], false],
    [[], [0], false],
    [[0], [0, 0], false],
  ])("of %j and %j: %s", (a, b, same) => {
    expect(constantTimeEqual(Uint8Array.from(a), Uint8Array.from(b))).toBe(same);
  });
});

describe("a signed token", () => {
  const text = '{"sub":"ada@example.org","name":"Ada ✓"}';
  const token = signToken(key, text);

  it("is base64url of the text, a dot, and base64url of its HMAC-SHA256", () => {
    const payload = Buffer.from(text).toString("base64url");
    const signature = createHmac("sha256", Buffer.alloc(32, 7)).update(payload).digest("base64url");
    expect(token).toBe(`${payload}.${signature}`);
  });

  it("opens to its text", () => {
    expect(verifyToken([key], token)).toBe(text);
  });

  it("opens with any of several keys", () => {
    expect(verifyToken([otherKey, key], token)).toBe(text);
    expect(verifyToken([key, otherKey], token)).toBe(text);
  });

  it("does not open with another key, nor with none", () => {
    expect(verifyToken([otherKey], token)).toBeNull();
    expect(verifyToken([], token)).toBeNull();
  });

  it("does not open with any one character changed to any other of the alphabet", () => {
    for (let at = 0; at < token.length; at++) {
      for (const character of `${ALPHABET}.`) {
        if (character === token[at]) continue;
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        if (verifyToken([key], changed) !== null) expect.fail(`opened with ${character} at ${at}`);
      }
    }
  });

  it("does not open with any one bit of any one character changed", () => {
    for (let at = 0; at < token.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const character = String.fromCharCode(token.charCodeAt(at) ^ (1 << bit));
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        if (verifyToken([key], changed) !== null) expect.fail(`opened with bit ${bit} changed at ${at}`);
      }
    }
  });

  it("does not open cut short anywhere, at either end", () => {
    for (let at = 0; at < token.length; at++) {
      expect(verifyToken([key], token.slice(0, at))).toBeNull();
      if (at > 0) expect(verifyToken([key], token.slice(at))).toBeNull();
    }
  });

  it("does not open with a character put in anywhere", () => {
    for (let at = 0; at <= token.length; at++) {
      for (const character of ["A", ".", "=", " ", "\n", "\0", "%", "_"]) {
        expect(verifyToken([key], token.slice(0, at) + character + token.slice(at))).toBeNull();
      }
    }
  });

  it("does not open under another's signature", () => {
    const [payload] = token.split(".");
    const [, signature] = signToken(key, "another").split(".");
    expect(verifyToken([key], `${payload}.${signature}`)).toBeNull();
  });

  it("does not take a signature over the text for one over its encoding", () => {
    const overText = createHmac("sha256", Buffer.alloc(32, 7)).update(text).digest("base64url");
    expect(verifyToken([key], `${encodeBase64Url(text)}.${overText}`)).toBeNull();
  });

  it("does not open when the signature is right but the payload is no base64url", () => {
    const payload = "Zh"; // "f" with a trailing bit set
    expect(verifyToken([key], `${payload}.${encodeBase64Url(hmacSha256(key, payload))}`)).toBeNull();
  });

  it("does not open with a signature of another length, were it a part of the right one", () => {
    const [payload = "", signature = ""] = token.split(".");
    const bytes = Buffer.from(signature, "base64url");
    for (const length of [0, 1, 16, 31]) {
      expect(verifyToken([key], `${payload}.${encodeBase64Url(bytes.subarray(0, length))}`)).toBeNull();
    }
    expect(verifyToken([key], `${payload}.${encodeBase64Url(Buffer.concat([bytes, bytes]))}`)).toBeNull();
  });

  it("carries an empty text too", () => {
    expect(verifyToken([key], signToken(key, ""))).toBe("");
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["a number", 42],
    ["an object", { token }],
    ["a list of it", [token]],
    ["a String object of it", Object(token)],
    ["the empty text", ""],
    ["a dot", "."],
    ["dots", "..."],
    ["a JSON Web Token", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."],
    ["two dots", `${token}.${token}`],
  ])("is not %s", (_what, value) => {
    expect(verifyToken([key], value)).toBeNull();
  });

  it("is looked at up to 4,096 characters", () => {
    const textFor = (length: number) => "x".repeat(Math.floor(((length - 44) * 3) / 4));
    const longest = signToken(key, textFor(MAX_TOKEN_CHARS));
    expect(longest.length).toBe(MAX_TOKEN_CHARS);
    expect(verifyToken([key], longest)).toBe(textFor(MAX_TOKEN_CHARS));
    expect(verifyToken([key], signToken(key, textFor(MAX_TOKEN_CHARS + 2)))).toBeNull();
    expect(verifyToken([key], "A".repeat(10_000_000))).toBeNull();
  });

  it("brings any text back, with its own key only", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.uint8Array({ minLength: 1 }), (any, bytes) => {
        const own = createSecretKey(Buffer.from(bytes));
        const signed = signToken(own, any);
        expect(verifyToken([own], signed)).toBe(any);
        expect(verifyToken([createSecretKey(randomBytes(32))], signed)).toBeNull();
      }),
    );
  });

  it("is never made up by chance, and nothing makes the reader throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.string({ unit: "binary" })), (value) => {
        expect(verifyToken([key], value)).toBeNull();
      }),
    );
  });
});

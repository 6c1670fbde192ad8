import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "#test/any-text";
import { constantTimeEqual, encodeBase64Url, hmacSha256, signToken, verifyToken } from "./token.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const key = createSecretKey(Buffer.alloc(32, 7));
const otherKey = createSecretKey(Buffer.alloc(32, 8));

describe("hmacSha256", () => {
  it("is HMAC-SHA256", () => {
    // RFC 4231, test case 2
    expect(hmacSha256(createSecretKey(Buffer.from("Jefe")), "what do ya want for nothing?").toString("hex")).toBe(
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
  });

  it("uses the UTF-8 of a text", () => {
    expect(hmacSha256(key, "é✓🔑")).toEqual(hmacSha256(key, Buffer.from("é✓🔑")));
  });
});

describe("constantTimeEqual", () => {
  it.each([
    [[], [], true],
    [[1], [1], true],
    [[1, 2], [1, 2], true],
    [[1], [2], false],
    [[1], [1, 2], false],
    [[1, 2], [1], false],
    [[], [0], false],
    [[0], [0, 0], false],
  ])("of %j and %j returns %s", (a, b, isEqual) => {
    expect(constantTimeEqual(Uint8Array.from(a), Uint8Array.from(b))).toBe(isEqual);
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

  it("is verified to its text", () => {
    expect(verifyToken([key], token)).toBe(text);
  });

  it("is verified with any of several keys", () => {
    expect(verifyToken([otherKey, key], token)).toBe(text);
    expect(verifyToken([key, otherKey], token)).toBe(text);
  });

  it("is not valid with another key, nor with none", () => {
    expect(verifyToken([otherKey], token)).toBeNull();
    expect(verifyToken([], token)).toBeNull();
  });

  it("is not valid with any one character changed to any other of the alphabet", () => {
    for (let at = 0; at < token.length; at++) {
      for (const character of `${ALPHABET}.`) {
        if (character === token[at]) continue;
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        if (verifyToken([key], changed) !== null) expect.fail(`${character} at ${at} was accepted`);
      }
    }
  });

  it("is not valid with any one bit of any one character changed", () => {
    for (let at = 0; at < token.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const character = String.fromCharCode(token.charCodeAt(at) ^ (1 << bit));
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        if (verifyToken([key], changed) !== null) expect.fail(`bit ${bit} changed at ${at} was accepted`);
      }
    }
  });

  it("is not valid if it is cut anywhere, at either end", () => {
    for (let at = 0; at < token.length; at++) {
      expect(verifyToken([key], token.slice(0, at))).toBeNull();
      if (at > 0) expect(verifyToken([key], token.slice(at))).toBeNull();
    }
  });

  it("is not valid with a character inserted anywhere", () => {
    for (let at = 0; at <= token.length; at++) {
      for (const character of ["A", ".", "=", " ", "\n", "\0", "%", "_"]) {
        expect(verifyToken([key], token.slice(0, at) + character + token.slice(at))).toBeNull();
      }
    }
  });

  it("is not valid with the signature of another token", () => {
    const [payload] = token.split(".");
    const [, signature] = signToken(key, "another").split(".");
    expect(verifyToken([key], `${payload}.${signature}`)).toBeNull();
  });

  it("is not valid with a signature over the text instead of its encoding", () => {
    const overText = createHmac("sha256", Buffer.alloc(32, 7)).update(text).digest("base64url");
    expect(verifyToken([key], `${encodeBase64Url(text)}.${overText}`)).toBeNull();
  });

  it("is not valid if the signature is right but the payload is not canonical base64url", () => {
    const payload = "Zh"; // "f" with an unused bit set
    expect(verifyToken([key], `${payload}.${encodeBase64Url(hmacSha256(key, payload))}`)).toBeNull();
  });

  it("is not valid with a signature of another length, even a part of the right one", () => {
    const [payload = "", signature = ""] = token.split(".");
    const bytes = Buffer.from(signature, "base64url");
    for (const length of [0, 1, 16, 31]) {
      expect(verifyToken([key], `${payload}.${encodeBase64Url(bytes.subarray(0, length))}`)).toBeNull();
    }
    expect(verifyToken([key], `${payload}.${encodeBase64Url(Buffer.concat([bytes, bytes]))}`)).toBeNull();
  });

  it("can contain an empty text", () => {
    expect(verifyToken([key], signToken(key, ""))).toBe("");
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["a number", 42],
    ["an object", { token }],
    ["an array with a token", [token]],
    ["a String object of a token", Object(token)],
    ["an empty string", ""],
    ["a dot", "."],
    ["dots", "..."],
    ["a JSON Web Token", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."],
    ["two dots", `${token}.${token}`],
  ])("is not valid if it is %s", (_what, value) => {
    expect(verifyToken([key], value)).toBeNull();
  });

  it("is refused over 4,096 characters", () => {
    const textFor = (length: number) => "x".repeat(Math.floor(((length - 44) * 3) / 4));
    const longest = signToken(key, textFor(4096));
    expect(longest.length).toBe(4096);
    expect(verifyToken([key], longest)).toBe(textFor(4096));
    expect(verifyToken([key], signToken(key, textFor(4098)))).toBeNull();
    expect(verifyToken([key], "A".repeat(10_000_000))).toBeNull();
  });

  it("is verified to any text, with its own key only", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 200 }),
        fc.uint8Array({ minLength: 1 }),
        (anyText, bytes) => {
          const tokenKey = createSecretKey(Buffer.from(bytes));
          const signed = signToken(tokenKey, anyText);
          expect(verifyToken([tokenKey], signed)).toBe(anyText);
          expect(verifyToken([createSecretKey(randomBytes(32))], signed)).toBeNull();
        },
      ),
    );
  });

  it("is never valid if it is arbitrary, and never makes the verification throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), anyText()), (value) => {
        expect(verifyToken([key], value)).toBeNull();
      }),
    );
  });
});

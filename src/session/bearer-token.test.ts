import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashToken, namesBearer, readBearerToken, withoutToken } from "./bearer-token.ts";

const TOKEN_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/";
const token = fc
  .tuple(fc.string({ unit: fc.constantFrom(...TOKEN_CHARS), minLength: 1, maxLength: 60 }), fc.nat(3))
  .map(([text, padding]) => text + "=".repeat(padding));

describe("the header Authorization", () => {
  it("has the token that was sent, whatever its characters and the case of the scheme", () => {
    fc.assert(
      fc.property(token, fc.constantFrom("Bearer ", "bearer ", "BEARER   "), (sent, scheme) => {
        expect(namesBearer(scheme + sent)).toBe(true);
        expect(readBearerToken(scheme + sent)).toBe(sent);
      }),
    );
    expect(readBearerToken(`Bearer ${"x".repeat(8192)}`)).toHaveLength(8192);
  });

  it("is refused with any other character, and with nothing of it in the message", () => {
    fc.assert(
      fc.property(token, fc.string({ minLength: 1, maxLength: 3 }), token, (before, other, after) => {
        const value = `${before}${other}${after}`;
        fc.pre(!/^[\w\-.~+/]+=*$/.test(value));
        let message = "";
        try {
          readBearerToken(`Bearer ${value}`);
        } catch (error) {
          ({ message } = error as Error);
        }
        expect(message).toMatch(/^The header Authorization has/);
        if (before.length > 12) expect(message).not.toContain(before);
      }),
    );
  });

  it.each(["Bearer", "bearer a", "Bearer a, Basic b", "Basic a, Bearer b", "Basic a,bearer", "Basic a ,\tBearer b"])(
    "is one with a bearer token: %j",
    (value) => expect(namesBearer(value)).toBe(true),
  );

  it.each(["", "Basic bearer", "Basic YTpi", "Bearers a", "Digest a=bearer, b=c", "x-bearer a", "Basic a,bearers"])(
    "is one of another scheme: %j",
    (value) => expect(namesBearer(value)).toBe(false),
  );

  it("takes linear time, whatever it contains", () => {
    for (const part of [" ", ",", ", ", "bearer,", "Bearer ", ",\t"]) {
      const value = `Bearer ${part.repeat(200_000)}x`;
      namesBearer(`Basic ${part.repeat(200_000)}x`);
      namesBearer(value);
      expect(() => readBearerToken(value)).toThrow();
    }
  }, 5_000);
});

describe("the hash of a token", () => {
  it("is its SHA-256 as base64url", () => {
    expect(hashToken("abc")).toBe("ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"); // FIPS 180-2, appendix B.1
  });
});

describe("an error for the log", () => {
  const secret = "token-0123456789";

  it("is the same one if it does not contain the token", () => {
    const errors = [new Error("failed", { cause: new Error("deeper") }), "text", undefined, null, 1, { secret }];
    for (const error of errors) expect(withoutToken(error, secret)).toBe(error);
  });

  it("keeps its text around the token", () => {
    const error = new TypeError(`No key ${secret} in the table`);
    const safe = withoutToken(error, secret) as Error;
    expect(safe.message).toBe("No key [token] in the table");
    expect(safe.stack).toContain("bearer-token.test.ts");
    expect(safe.stack).not.toContain(secret);
    expect(withoutToken(`bad ${secret}`, secret)).toBe("bad [token]");
  });

  it("can refer back to itself", () => {
    const error = new Error("failed");
    error.cause = error;
    expect(withoutToken(error, secret)).toBe(error);
  });
});

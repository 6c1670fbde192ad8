import { createHmac } from "node:crypto";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { anyText } from "#test/any-text";
import { runWithCookie, signInCookie, testConfig } from "#test/request-context";
import { deriveKey, session, signToken } from "../session/index.ts";
import { issue_magic_token, verify_magic_token } from "./tokens.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const SECRET = "a secret of the tests, long enough";
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

function issue(subject = "ada@example.org", ttl = 900): string {
  return issue_magic_token(SECRET, subject, { ttl });
}

describe("a magic token", () => {
  it("is verified to its subject", () => {
    expect(verify_magic_token(SECRET, issue())).toBe("ada@example.org");
  });

  it("needs no escaping in a URL", () => {
    const token = issue("ada+spam@example.org ✓ /?#&=");
    expect(encodeURIComponent(token)).toBe(token);
  });

  it("is valid for the same secret as bytes and as a string", () => {
    const token = issue();
    expect(verify_magic_token(Buffer.from(SECRET), token)).toBe("ada@example.org");
    expect(verify_magic_token(new TextEncoder().encode(SECRET), token)).toBe("ada@example.org");
  });

  it("is not valid for another secret", () => {
    expect(verify_magic_token(`${SECRET}!`, issue())).toBeNull();
    expect(verify_magic_token(SECRET.slice(1), issue())).toBeNull();
  });

  it.each([
    // ttl in seconds, milliseconds later, whether the token is valid
    [900, 0, true],
    [900, 899_999, true],
    [900, 900_000, false],
    [900, 900_001, false],
    [900, 10 ** 12, false],
    [1, 999, true],
    [1, 1000, false],
    [0.5, 499, true],
    [0.5, 500, false],
    [0, 0, false],
    [-1, 0, false],
    [-(10 ** 9), 0, false],
    [10 ** 9, 10 ** 12 - 1, true],
  ])("with a ttl of %d s is valid after %i ms: %s [SIGNIN-12]", (ttl, laterMs, isValid) => {
    const token = issue("ada", ttl);
    vi.setSystemTime(NOW + laterMs);
    expect(verify_magic_token(SECRET, token)).toBe(isValid ? "ada" : null);
  });

  it("is not valid with any one character changed to any other [SIGNIN-11]", () => {
    const token = issue();
    for (let at = 0; at < token.length; at++) {
      for (const character of ALPHABET) {
        if (token[at] === character) continue;
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        if (verify_magic_token(SECRET, changed) !== null) expect.fail(`${character} at ${at} was accepted`);
      }
    }
  });

  it("is not valid if it is cut, padded, or part of a longer text", () => {
    const token = issue();
    for (let at = 0; at < token.length; at++) expect(verify_magic_token(SECRET, token.slice(0, at))).toBeNull();
    for (const other of [
      ` ${token}`,
      `${token} `,
      `${token}=`,
      `${token}.`,
      `.${token}`,
      `${token}&x=1`,
      token + token,
    ]) {
      expect(verify_magic_token(SECRET, other)).toBeNull();
    }
  });

  it.each([
    undefined,
    null,
    "",
    ".",
    42,
    true,
    {},
    [],
    ["x"],
    "A".repeat(10_000_000),
    "eyJhbGciOiJub25lIn0.e30.",
    Symbol("x"),
  ])("is not valid if it is %s", (token) => {
    expect(Reflect.apply(verify_magic_token, null, [SECRET, token])).toBeNull();
  });

  it("is not valid in an array, as a query parser may return it", () => {
    expect(Reflect.apply(verify_magic_token, null, [SECRET, [issue()]])).toBeNull();
  });

  it("is not valid as any other token of the same secret, nor the reverse [SIGNIN-13]", () => {
    const hex = "5a".repeat(32);
    const secret = Buffer.from(hex, "hex");
    const text = JSON.stringify(["ada", NOW + 1000]);
    expect(verify_magic_token(secret, signToken(deriveKey(secret, "magic", "tsweb"), text))).toBe("ada");
    for (const purpose of ["session", "feed", "csrf"]) {
      expect(verify_magic_token(secret, signToken(deriveKey(secret, purpose, "tsweb"), text))).toBeNull();
    }
    const payload = Buffer.from(text).toString("base64url");
    const signature = createHmac("sha256", secret).update(payload).digest("base64url");
    expect(verify_magic_token(secret, `${payload}.${signature}`)).toBeNull();

    const config = testConfig({ WEB_AUTH_SECRET: hex });
    const magic = issue_magic_token(secret, "ada", { ttl: 900 });
    expect(runWithCookie(`web_session=${magic}`, () => session.user(), config)).toBeNull();
    const cookie = signInCookie("ada", {}, config).slice("web_session=".length);
    expect(verify_magic_token(secret, cookie)).toBeNull();
    expect(verify_magic_token(hex, cookie)).toBeNull();
  });

  it("is verified to any subject", () => {
    const secret = fc.uint8Array({ minLength: 16, maxLength: 100 });
    const subject = anyText({ minLength: 1, maxLength: 150 });
    fc.assert(
      fc.property(secret, subject, fc.double({ min: 0.001, max: 10 ** 9, noNaN: true }), (key, text, ttl) => {
        expect(verify_magic_token(key, issue_magic_token(key, text, { ttl }))).toBe(text);
      }),
    );
  });

  it("is never valid if it is arbitrary, and never makes the verification throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), anyText()), (token) => {
        expect(Reflect.apply(verify_magic_token, null, [SECRET, token])).toBeNull();
      }),
    );
  });
});

describe("the secret of a magic token", () => {
  it.each([undefined, null, 42, {}, [], Array(32).fill(1), new ArrayBuffer(32), () => SECRET])(
    "cannot be %s: TypeError",
    (secret) => {
      expect(() => Reflect.apply(issue_magic_token, null, [secret, "ada", { ttl: 1 }])).toThrow(TypeError);
      expect(() => Reflect.apply(verify_magic_token, null, [secret, issue()])).toThrow(TypeError);
    },
  );

  it.each(["", "x".repeat(15), new Uint8Array(0), new Uint8Array(15)])("cannot have under 16 bytes: %j", (secret) => {
    expect(() => issue_magic_token(secret, "ada", { ttl: 1 })).toThrow(RangeError);
    expect(() => verify_magic_token(secret, issue())).toThrow(RangeError);
  });

  it.each(["x".repeat(16), "é".repeat(8), new Uint8Array(16), "x".repeat(10_000)])("can be %j", (secret) => {
    expect(verify_magic_token(secret, issue_magic_token(secret, "ada", { ttl: 1 }))).toBe("ada");
  });

  it("is never in an error message", () => {
    expect(() => issue_magic_token("hunter2", "ada", { ttl: 1 })).toThrow(/^(?!.*hunter2)/);
  });
});

describe("issue_magic_token", () => {
  it.each([undefined, null, "", 42, {}, ["ada"], Symbol("ada")])("throws a TypeError for the subject %s", (subject) => {
    expect(() => Reflect.apply(issue_magic_token, null, [SECRET, subject, { ttl: 1 }])).toThrow(TypeError);
  });

  it("accepts a subject of 1,024 bytes as JSON, with a valid token, and no longer one", () => {
    for (const longest of ["x".repeat(1024), "é".repeat(512), `${"\0".repeat(170)}xxxx`, '"'.repeat(512)]) {
      expect(verify_magic_token(SECRET, issue(longest))).toBe(longest);
      expect(() => issue(`${longest}x`)).toThrow(RangeError);
    }
  });

  it.each([[undefined], [null], [{}], [900], [{ ttl: undefined }], [{ ttl: "900" }], [{ ttl: null }], [{ ttl: 900n }]])(
    "throws a TypeError for the options %s",
    (options) => {
      expect(() => Reflect.apply(issue_magic_token, null, [SECRET, "ada", options])).toThrow(
        "the option ttl must be a number of seconds",
      );
    },
  );

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, Number.MAX_SAFE_INTEGER])(
    "throws a RangeError for a ttl of %d",
    (ttl) => {
      expect(() => issue("ada", ttl)).toThrow(RangeError);
    },
  );

  it("returns a token, or throws a TypeError or RangeError, for any arguments", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (secret, subject, options) => {
        try {
          Reflect.apply(issue_magic_token, null, [secret, subject, options]);
        } catch (error) {
          expect(error instanceof TypeError || error instanceof RangeError).toBe(true);
        }
      }),
    );
  });
});

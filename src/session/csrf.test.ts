import type { KeyObject } from "node:crypto";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { requestContext, signInCookie, testConfig } from "#test/request-context";
import type { Config, Environment } from "../config/index.ts";
import { type RequestContext, runInContext } from "../http/index.ts";
import { issueCsrfToken, verifyCsrfToken } from "./csrf.ts";
import { sessionId } from "./current-session.ts";
import { keysFor } from "./keys.ts";
import { session } from "./session.ts";
import { encodeBase64Url, hmacSha256 } from "./token.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Returns a configuration with both secrets and further variables. */
function csrfConfig(env: Environment = {}): Config {
  return testConfig({ WEB_CSRF_SECRET: "6b".repeat(32), ...env });
}

const config = csrfConfig();
const contextWith = (cookie?: string, contextConfig = config) => requestContext(cookie, contextConfig);

function issue(context: RequestContext): string {
  const token = issueCsrfToken(context);
  if (token === null) throw new Error("No token was issued.");
  return token;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a CSRF token", () => {
  it("has 64 characters that need no escaping in HTML, headers and URLs", () => {
    expect(issue(contextWith())).toMatch(/^[A-Za-z0-9_-]{64}$/);
  });

  it("is valid for every request of the sign-in it was issued to", () => {
    const cookie = signInCookie("ada");
    const token = issue(contextWith(cookie));
    expect(verifyCsrfToken(contextWith(cookie), token)).toBe(true);
    expect(verifyCsrfToken(contextWith(cookie), token)).toBe(true);
  });

  it("differs each time it is issued, and all of them are valid", () => {
    const context = contextWith(signInCookie("ada"));
    const tokens = Array.from({ length: 200 }, () => issue(context));
    expect(new Set(tokens).size).toBe(200);
    expect(tokens.every((token) => verifyCsrfToken(context, token))).toBe(true);
  });

  it("shares no sequence of 8 characters with other tokens, so that compression reveals nothing", () => {
    const context = contextWith(signInCookie("ada"));
    const sequences = Array.from({ length: 50 }, () => issue(context)).flatMap((token) =>
      Array.from({ length: token.length - 7 }, (_, at) => token.slice(at, at + 8)),
    );
    expect(new Set(sequences).size).toBe(sequences.length);
  });

  it("does not contain the session id", () => {
    const context = contextWith(signInCookie("ada"));
    const sid = sessionId(context) ?? "";
    const token = issue(context);
    expect(sid).toHaveLength(22);
    expect(token).not.toContain(sid);
    expect(Buffer.from(token, "base64url").includes(Buffer.from(sid, "base64url"))).toBe(false);
  });

  it("is not valid for another sign-in, of another or of the same user [SITE-19]", () => {
    const token = issue(contextWith(signInCookie("ada")));
    expect(verifyCsrfToken(contextWith(signInCookie("ada")), token)).toBe(false);
    expect(verifyCsrfToken(contextWith(signInCookie("mallory")), token)).toBe(false);
  });

  it("of a signed-out client is not valid after a sign-in, nor the reverse", () => {
    const cookie = signInCookie("ada");
    expect(verifyCsrfToken(contextWith(cookie), issue(contextWith()))).toBe(false);
    expect(verifyCsrfToken(contextWith(), issue(contextWith(cookie)))).toBe(false);
    expect(verifyCsrfToken(contextWith(), issue(contextWith()))).toBe(true);
  });

  it("that was verified before is still valid for its own sign-in only", () => {
    const [ada, eve] = [signInCookie("ada"), signInCookie("eve")];
    const token = issue(contextWith(ada));
    for (let repeat = 0; repeat < 3; repeat++) {
      expect(verifyCsrfToken(contextWith(ada), token)).toBe(true);
      expect(verifyCsrfToken(contextWith(eve), token)).toBe(false);
      expect(verifyCsrfToken(contextWith(), token)).toBe(false);
      expect(verifyCsrfToken(contextWith(ada, csrfConfig({ WEB_CSRF_SECRET: "7c".repeat(32) })), token)).toBe(false);
    }
  });

  it("follows a sign-in and a sign-out during the request", () => {
    const context = contextWith();
    runInContext(context, () => {
      const before = issue(context);
      session.login("ada");
      expect(verifyCsrfToken(context, before)).toBe(false);
      const fresh = issue(context);
      expect(verifyCsrfToken(context, fresh)).toBe(true);
      session.logout();
      expect(verifyCsrfToken(context, fresh)).toBe(false);
      expect(verifyCsrfToken(context, before)).toBe(true);
    });
  });

  it("is valid as long as the sign-in", () => {
    const cookie = signInCookie("ada");
    const token = issue(contextWith(cookie));
    vi.setSystemTime(NOW + 7 * 24 * 3600 * 1000 - 1);
    expect(verifyCsrfToken(contextWith(cookie), token)).toBe(true);
    vi.setSystemTime(NOW + 7 * 24 * 3600 * 1000);
    expect(verifyCsrfToken(contextWith(cookie), token)).toBe(false);
  });

  it("is not valid under another secret", () => {
    const cookie = signInCookie("ada");
    const otherConfig = csrfConfig({ WEB_CSRF_SECRET: "7c".repeat(32) });
    expect(verifyCsrfToken(contextWith(cookie, otherConfig), issue(contextWith(cookie)))).toBe(false);
  });

  it("stays valid after a change of WEB_AUTH_SECRET if the session does", () => {
    const cookie = signInCookie("ada");
    const token = issue(contextWith(cookie));
    const rotated = csrfConfig({ WEB_AUTH_SECRET: "8d".repeat(32), WEB_AUTH_SECRET_PREVIOUS: "5a".repeat(32) });
    expect(verifyCsrfToken(contextWith(cookie, rotated), token)).toBe(true);
  });

  it("is never issued and never valid if WEB_CSRF_SECRET is not set", () => {
    const withoutSecret = csrfConfig({ WEB_CSRF_SECRET: undefined });
    const cookie = signInCookie("ada");
    expect(issueCsrfToken(contextWith(cookie, withoutSecret))).toBeNull();
    expect(verifyCsrfToken(contextWith(cookie, withoutSecret), issue(contextWith(cookie)))).toBe(false);
    expect(verifyCsrfToken(contextWith(undefined, withoutSecret), "")).toBe(false);
  });

  it("is not valid with any one character changed to any other", () => {
    const context = contextWith(signInCookie("ada"));
    const token = issue(context);
    for (let at = 0; at < token.length; at++) {
      for (const character of `${ALPHABET}=+/. %`) {
        if (token[at] === character) continue;
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        if (verifyCsrfToken(context, changed)) expect.fail(`${character} at ${at} was accepted`);
      }
    }
  });

  it("is not valid if it is combined from the parts of two tokens", () => {
    const context = contextWith(signInCookie("ada"));
    const [first, second] = [issue(context), issue(context)].map((token) => Buffer.from(token, "base64url"));
    const mixed = Buffer.concat([first?.subarray(0, 24) ?? [], second?.subarray(24) ?? []] as Uint8Array[]);
    expect(mixed).toHaveLength(48);
    expect(verifyCsrfToken(context, encodeBase64Url(mixed))).toBe(false);
  });

  it("is not valid if it is combined from tokens of other clients", () => {
    const [ada, eve, nobody] = [contextWith(signInCookie("ada")), contextWith(signInCookie("eve")), contextWith()];
    const [first, second] = [issue(eve), issue(nobody)].map((token) => Buffer.from(token, "base64url"));
    const combined = Buffer.alloc(48);
    for (let at = 0; at < 48; at++) combined[at] = (first?.[at] ?? 0) ^ (second?.[at] ?? 0);
    for (const context of [ada, eve, nobody]) {
      expect(verifyCsrfToken(context, encodeBase64Url(combined))).toBe(false);
    }
  });

  it("is a mask and, under it, the start of the HMAC of the sign-in with the key of this purpose", () => {
    const context = contextWith(signInCookie("ada"));
    const sid = sessionId(context) ?? "";
    const mask = Buffer.alloc(24, 0xa5);
    const tokenOf = (key: KeyObject, binding: string) => {
      const covered = hmacSha256(key, binding)
        .subarray(0, 24)
        .map((byte) => byte ^ 0xa5);
      return encodeBase64Url(Buffer.concat([mask, covered]));
    };
    const key = keysFor(config, "csrf").sign;
    expect(verifyCsrfToken(context, tokenOf(key, `\x01${sid}`))).toBe(true);
    expect(verifyCsrfToken(contextWith(), tokenOf(key, "\0"))).toBe(true);
    for (const binding of ["", "\0", "\x01", sid, `\0${sid}`, `\x02${sid}`, `\x01${sid}\0`]) {
      expect(verifyCsrfToken(context, tokenOf(key, binding)), JSON.stringify(binding)).toBe(false);
    }
    expect(verifyCsrfToken(context, tokenOf(keysFor(config, "session").sign, `\x01${sid}`))).toBe(false);
    expect(verifyCsrfToken(context, tokenOf(keysFor(config, "feed").sign, `\x01${sid}`))).toBe(false);
  });

  it("is not valid without its mask, or with the mask of another token", () => {
    const context = contextWith(signInCookie("ada"));
    const secret = hmacSha256(keysFor(config, "csrf").sign, `\x01${sessionId(context)}`).subarray(0, 24);
    const other = Buffer.alloc(24, 1);
    expect(verifyCsrfToken(context, encodeBase64Url(Buffer.concat([secret, secret])))).toBe(false);
    expect(verifyCsrfToken(context, encodeBase64Url(Buffer.concat([other, secret])))).toBe(false);
  });

  it("never contains the secret of the sign-in", () => {
    const context = contextWith(signInCookie("ada"));
    const secret = hmacSha256(keysFor(config, "csrf").sign, `\x01${sessionId(context)}`).subarray(0, 24);
    const isIn = (token: string) => {
      const bytes = Buffer.from(token, "base64url");
      return [0, 8, 16].some((at) => bytes.includes(secret.subarray(at, at + 8)));
    };
    expect(Array.from({ length: 1_000 }, () => issue(context)).filter(isIn)).toEqual([]);
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["an empty string", ""],
    ["a number", 1],
    ["true", true],
    ["an array", ["x"]],
    ["64 characters that decode to zeros", "A".repeat(64)],
    ["a nonce alone", "A".repeat(22)],
    ["a megabyte", "A".repeat(1_000_000)],
    ["characters outside the alphabet", "é".repeat(64)],
  ])("is not valid if it is %s", (_what, value) => {
    expect(verifyCsrfToken(contextWith(), value)).toBe(false);
    expect(verifyCsrfToken(contextWith(signInCookie("ada")), value)).toBe(false);
  });

  it("is not valid in an array or list, as from a header that was sent twice", () => {
    const context = contextWith(signInCookie("ada"));
    const token = issue(context);
    expect(verifyCsrfToken(context, [token])).toBe(false);
    expect(verifyCsrfToken(context, `${token}, ${token}`)).toBe(false);
  });

  it("is never valid if it is arbitrary, and never makes the check throw", () => {
    const context = contextWith(signInCookie("ada"));
    const rightLength = fc.uint8Array({ minLength: 48, maxLength: 48 }).map(encodeBase64Url);
    fc.assert(
      fc.property(fc.oneof(fc.anything(), rightLength), (value) => {
        expect(verifyCsrfToken(context, value)).toBe(false);
      }),
    );
  });
});

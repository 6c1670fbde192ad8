import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { testConfig as baseConfig, requestContext as baseContext, signInCookie } from "#test/request-context";
import type { Config, Environment } from "../config/config.ts";
import { type RequestContext, runInContext } from "../http/index.ts";
import { issueCsrfToken, verifyCsrfToken } from "./csrf.ts";
import { keysFor } from "./keys.ts";
import { session, sessionId } from "./session.ts";
import { encodeBase64Url, hmacSha256 } from "./token.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Both secrets, and what a test adds to them. */
function configWith(env: Environment = {}): Config {
  return baseConfig({ WEB_CSRF_SECRET: "6b".repeat(32), ...env });
}

const config = configWith();
const contextWith = (cookie?: string, own = config) => baseContext(cookie, own);

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
  it("is 64 characters that need no escaping anywhere", () => {
    expect(issue(contextWith())).toMatch(/^[A-Za-z0-9_-]{64}$/);
  });

  it("holds for the sign-in it was issued to, in each of its requests", () => {
    const cookie = signInCookie("ada");
    const token = issue(contextWith(cookie));
    expect(verifyCsrfToken(contextWith(cookie), token)).toBe(true);
    expect(verifyCsrfToken(contextWith(cookie), token)).toBe(true);
  });

  it("is another string each time, and all of them hold", () => {
    const context = contextWith(signInCookie("ada"));
    const tokens = Array.from({ length: 200 }, () => issue(context));
    expect(new Set(tokens).size).toBe(200);
    expect(tokens.every((token) => verifyCsrfToken(context, token))).toBe(true);
  });

  it("has no run of characters in common with the next: compression finds nothing to repeat", () => {
    const context = contextWith(signInCookie("ada"));
    const runs = Array.from({ length: 50 }, () => issue(context)).flatMap((token) =>
      Array.from({ length: token.length - 7 }, (_, at) => token.slice(at, at + 8)),
    );
    expect(new Set(runs).size).toBe(runs.length);
  });

  it("does not show the session's id", () => {
    const context = contextWith(signInCookie("ada"));
    const sid = sessionId(context) ?? "";
    const token = issue(context);
    expect(sid).toHaveLength(22);
    expect(token).not.toContain(sid);
    expect(Buffer.from(token, "base64url").includes(Buffer.from(sid, "base64url"))).toBe(false);
  });

  it("does not hold for another sign-in, of another or of the same user", () => {
    const token = issue(contextWith(signInCookie("ada")));
    expect(verifyCsrfToken(contextWith(signInCookie("ada")), token)).toBe(false);
    expect(verifyCsrfToken(contextWith(signInCookie("mallory")), token)).toBe(false);
  });

  it("of one signed out does not hold signed in, nor the other way round", () => {
    const cookie = signInCookie("ada");
    expect(verifyCsrfToken(contextWith(cookie), issue(contextWith()))).toBe(false);
    expect(verifyCsrfToken(contextWith(), issue(contextWith(cookie)))).toBe(false);
    expect(verifyCsrfToken(contextWith(), issue(contextWith()))).toBe(true);
  });

  it("that held for one sign-in, asked again, holds for it and for no other", () => {
    const [ada, eve] = [signInCookie("ada"), signInCookie("eve")];
    const token = issue(contextWith(ada));
    for (let again = 0; again < 3; again++) {
      expect(verifyCsrfToken(contextWith(ada), token)).toBe(true);
      expect(verifyCsrfToken(contextWith(eve), token)).toBe(false);
      expect(verifyCsrfToken(contextWith(), token)).toBe(false);
      expect(verifyCsrfToken(contextWith(ada, configWith({ WEB_CSRF_SECRET: "7c".repeat(32) })), token)).toBe(false);
    }
  });

  it("follows a sign-in and a sign-out on the way", () => {
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

  it("lives as long as the sign-in", () => {
    const cookie = signInCookie("ada");
    const token = issue(contextWith(cookie));
    vi.setSystemTime(NOW + 7 * 24 * 3600 * 1000 - 1);
    expect(verifyCsrfToken(contextWith(cookie), token)).toBe(true);
    vi.setSystemTime(NOW + 7 * 24 * 3600 * 1000);
    expect(verifyCsrfToken(contextWith(cookie), token)).toBe(false);
  });

  it("does not hold under another secret", () => {
    const cookie = signInCookie("ada");
    const other = configWith({ WEB_CSRF_SECRET: "7c".repeat(32) });
    expect(verifyCsrfToken(contextWith(cookie, other), issue(contextWith(cookie)))).toBe(false);
  });

  it("outlives a change of WEB_AUTH_SECRET that the session outlives", () => {
    const cookie = signInCookie("ada");
    const token = issue(contextWith(cookie));
    const rotated = configWith({ WEB_AUTH_SECRET: "8d".repeat(32), WEB_AUTH_SECRET_PREVIOUS: "5a".repeat(32) });
    expect(verifyCsrfToken(contextWith(cookie, rotated), token)).toBe(true);
  });

  it("is not issued and never holds where WEB_CSRF_SECRET is not set", () => {
    const none = configWith({ WEB_CSRF_SECRET: undefined });
    const cookie = signInCookie("ada");
    expect(issueCsrfToken(contextWith(cookie, none))).toBeNull();
    expect(verifyCsrfToken(contextWith(cookie, none), issue(contextWith(cookie)))).toBe(false);
    expect(verifyCsrfToken(contextWith(undefined, none), "")).toBe(false);
  });

  it("does not hold with any one character changed to any other", () => {
    const context = contextWith(signInCookie("ada"));
    const token = issue(context);
    for (let at = 0; at < token.length; at++) {
      for (const character of `${ALPHABET}=+/. %`) {
        if (token[at] === character) continue;
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        if (verifyCsrfToken(context, changed)) expect.fail(`${character} at ${at} was taken`);
      }
    }
  });

  it("does not hold with its halves from two tokens", () => {
    const context = contextWith(signInCookie("ada"));
    const [a, b] = [issue(context), issue(context)].map((token) => Buffer.from(token, "base64url"));
    const mixed = Buffer.concat([a?.subarray(0, 16) ?? [], b?.subarray(16) ?? []] as Uint8Array[]);
    expect(mixed).toHaveLength(48);
    expect(verifyCsrfToken(context, encodeBase64Url(mixed))).toBe(false);
  });

  it("is not an HMAC of the nonce or of the session alone", () => {
    const context = contextWith(signInCookie("ada"));
    const key = keysFor(config, "csrf").sign;
    const nonce = Buffer.alloc(16, 1);
    const sid = sessionId(context) ?? "";
    for (const text of [nonce, Buffer.from(sid), Buffer.concat([nonce, Buffer.from(sid)])]) {
      expect(verifyCsrfToken(context, encodeBase64Url(Buffer.concat([nonce, hmacSha256(key, text)])))).toBe(false);
    }
    const right = hmacSha256(key, Buffer.concat([nonce, Buffer.of(1), Buffer.from(sid)]));
    expect(verifyCsrfToken(context, encodeBase64Url(Buffer.concat([nonce, right])))).toBe(true);
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["the empty text", ""],
    ["a number", 1],
    ["true", true],
    ["a list", ["x"]],
    ["64 characters of nought", "A".repeat(64)],
    ["a nonce alone", "A".repeat(22)],
    ["a megabyte", "A".repeat(1_000_000)],
    ["foreign characters", "é".repeat(64)],
  ])("is not %s", (_what, value) => {
    expect(verifyCsrfToken(contextWith(), value)).toBe(false);
    expect(verifyCsrfToken(contextWith(signInCookie("ada")), value)).toBe(false);
  });

  it("is not taken from a list of one, as a header sent twice can be", () => {
    const context = contextWith(signInCookie("ada"));
    const token = issue(context);
    expect(verifyCsrfToken(context, [token])).toBe(false);
    expect(verifyCsrfToken(context, `${token}, ${token}`)).toBe(false);
  });

  it("is never made up by chance, and nothing makes the check throw", () => {
    const context = contextWith(signInCookie("ada"));
    const likely = fc.uint8Array({ minLength: 48, maxLength: 48 }).map(encodeBase64Url);
    fc.assert(
      fc.property(fc.oneof(fc.anything(), likely), (value) => {
        expect(verifyCsrfToken(context, value)).toBe(false);
      }),
    );
  });
});

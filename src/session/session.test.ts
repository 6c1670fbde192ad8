import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cookieHeaderOf, requestContext, runWithCookie, signInCookie, testConfig } from "#test/request-context";
import { runInContext } from "../http/index.ts";
import { session, sessionId } from "./session.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const WEEK_MS = 7 * 24 * 3600 * 1000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("session.login", () => {
  it("sets the cookie with the interface's attributes", () => {
    const context = requestContext();
    runInContext(context, () => session.login("ada"));
    const [line, ...others] = context.setCookieHeaders;
    expect(line).toMatch(/^web_session=[\w-]+\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(others).toEqual([]);
  });

  it("with secure cookies sets one that no sibling site can plant", () => {
    const context = requestContext(undefined, testConfig({ WEB_COOKIE_SECURE: "1" }));
    runInContext(context, () => session.login("ada"));
    expect([...context.setCookieHeaders]).toEqual([
      expect.stringMatching(
        /^__Host-web_session=[\w-]+\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
  });

  it("signs the payload sub, claims, sid, iat, exp", () => {
    const [, payload = ""] = /=([\w-]+)\./.exec(signInCookie("ada", { name: "Ada" })) ?? [];
    expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toEqual({
      sub: "ada",
      name: "Ada",
      sid: expect.stringMatching(/^[\w-]{22}$/),
      iat: NOW / 1000,
      exp: NOW / 1000 + 604_800,
    });
  });

  it("is seen at once, as it will be seen in the next request", () => {
    const context = requestContext();
    const claims = { name: "Ada ✓", roles: ["admin"], none: null, n: { m: [1, { o: true }] }, out: undefined };
    const now = runInContext(context, () => {
      expect(session.user()).toBeNull();
      session.login("ada", claims);
      return session.user();
    });
    expect(now).toEqual({ sub: "ada", name: "Ada ✓", roles: ["admin"], none: null, n: { m: [1, { o: true }] } });
    expect(runWithCookie(cookieHeaderOf(context), () => session.user())).toEqual(now);
    expect(now).not.toHaveProperty("out");
  });

  it("keeps a copy: what the caller changes afterwards does not change the session", () => {
    runWithCookie(undefined, () => {
      const roles = ["editor"];
      session.login("ada", { roles });
      roles.push("admin");
      expect(session.user()).toEqual({ sub: "ada", roles: ["editor"] });
    });
  });

  it("replaces a sign-in, claims and all, with one cookie and another sid", () => {
    const context = requestContext(signInCookie("ada", { name: "Ada", roles: ["admin"] }));
    const before = sessionId(context);
    runInContext(context, () => {
      session.login("grace", { name: "Grace" });
      expect(session.user()).toEqual({ sub: "grace", name: "Grace" });
      const between = sessionId(context);
      session.login("ada");
      expect(session.user()).toEqual({ sub: "ada" });
      expect(new Set([before, between, sessionId(context)]).size).toBe(3);
    });
    expect([...context.setCookieHeaders]).toHaveLength(1);
    expect(runWithCookie(cookieHeaderOf(context), () => session.user())).toEqual({ sub: "ada" });
  });

  it.each([
    ["no user id", undefined],
    ["an empty user id", ""],
    ["a number for a user id", 42],
  ])("refuses %s, and signs nobody in or out", (_what, sub) => {
    const context = requestContext(signInCookie("grace"));
    runInContext(context, () => {
      expect(() => Reflect.apply(session.login, session, [sub])).toThrow(TypeError);
      expect(session.user()).toEqual({ sub: "grace" });
    });
    expect([...context.setCookieHeaders]).toEqual([]);
  });

  it.each(["sub", "sid", "iat", "exp"])("refuses the claim %s: nobody becomes another through a claim", (name) => {
    expect(() => signInCookie("ada", { [name]: "root" })).toThrow(`a claim cannot be named "${name}"`);
  });

  it("refuses the claim __proto__, and claims that JSON cannot hold", () => {
    expect(() => signInCookie("ada", JSON.parse('{"__proto__":{"roles":["admin"]}}'))).toThrow("__proto__");
    expect(() => signInCookie("ada", { born: new Date(0) })).toThrow("claims.born is an instance of a class");
  });
});

describe("session.user", () => {
  it("is null without a cookie", () => {
    expect(runWithCookie(undefined, () => session.user())).toBeNull();
    expect(runWithCookie("", () => session.user())).toBeNull();
    expect(runWithCookie("other=1", () => session.user())).toBeNull();
  });

  it("is frozen, and the same object throughout the request", () => {
    runWithCookie(signInCookie("ada", { roles: ["editor"] }), () => {
      const user = session.user();
      expect(user).not.toBeNull();
      expect(session.user()).toBe(user);
      expect(session.require()).toBe(user);
      expect(() => Object.assign(user ?? {}, { sub: "root" })).toThrow(TypeError);
      expect(() => Array.prototype.push.call(user?.roles, "admin")).toThrow(TypeError);
      expect(() => session.require("admin")).toThrow("not allowed");
    });
  });

  it("never shows sid, iat and exp", () => {
    expect(Object.keys(runWithCookie(signInCookie("ada", { name: "Ada" }), () => session.user()) ?? {})).toEqual([
      "sub",
      "name",
    ]);
  });

  it("is each request's own, with requests side by side", async () => {
    const work = (sub: string) =>
      runWithCookie(signInCookie(sub), async () => {
        await Promise.resolve();
        const first = session.user();
        await Promise.resolve();
        return [first?.sub, session.user()?.sub];
      });
    expect(await Promise.all(["a", "b", "c"].map(work))).toEqual([
      ["a", "a"],
      ["b", "b"],
      ["c", "c"],
    ]);
  });

  it("can be verified by any process with the secret, and by no other", () => {
    const cookie = signInCookie("ada");
    expect(runWithCookie(cookie, () => session.user(), testConfig())).toEqual({ sub: "ada" });
    expect(runWithCookie(cookie, () => session.user(), testConfig({ WEB_AUTH_SECRET: "5b".repeat(32) }))).toBeNull();
  });

  it("lasts through a change of the secret, as long as the old one is listed", () => {
    const cookie = signInCookie("ada");
    const rotated = {
      WEB_AUTH_SECRET: "77".repeat(32),
      WEB_AUTH_SECRET_PREVIOUS: `${"66".repeat(32)},${"5a".repeat(32)}`,
    };
    expect(runWithCookie(cookie, () => session.user(), testConfig(rotated))).toEqual({ sub: "ada" });
    const renewed = signInCookie("ada", {}, testConfig(rotated));
    expect(runWithCookie(renewed, () => session.user())).toBeNull(); // the old secret verifies, and signs nothing new
  });

  it("ends after seven days, to the millisecond, whatever the browser does", () => {
    const cookie = signInCookie("ada");
    vi.setSystemTime(NOW + WEEK_MS - 1);
    expect(runWithCookie(cookie, () => session.user())).toEqual({ sub: "ada" });
    vi.setSystemTime(NOW + WEEK_MS);
    expect(runWithCookie(cookie, () => session.user())).toBeNull();
  });

  it("ends in a stream that outlives it, whether it was signed in before or in it", () => {
    for (const cookie of [signInCookie("ada"), undefined]) {
      vi.setSystemTime(NOW);
      const context = requestContext(cookie);
      runInContext(context, () => {
        if (!cookie) session.login("ada");
        vi.setSystemTime(NOW + WEEK_MS - 1);
        expect(session.user()).toEqual({ sub: "ada" });
        vi.setSystemTime(NOW + WEEK_MS);
        expect(session.user()).toBeNull();
        expect(sessionId(context)).toBeNull();
        expect(() => session.require()).toThrow("Please sign in");
      });
    }
  });
});

describe("a cookie that was verified before", () => {
  const payloadOf = (cookie: string) => cookie.slice("web_session=".length).split(".")[0] ?? "";

  it("is verified anew at each change of a character", () => {
    const cookie = signInCookie("ada");
    expect(runWithCookie(cookie, () => session.user()?.sub)).toBe("ada");
    for (let at = "web_session=".length; at < cookie.length; at++) {
      const changed = `${cookie.slice(0, at)}${cookie[at] === "A" ? "B" : "A"}${cookie.slice(at + 1)}`;
      expect(runWithCookie(changed, () => session.user())).toBeNull();
      expect(runWithCookie(cookie, () => session.user()?.sub)).toBe("ada");
    }
  });

  it("ends after its seven days all the same", () => {
    const cookie = signInCookie("ada");
    expect(runWithCookie(cookie, () => session.user()?.sub)).toBe("ada");
    vi.setSystemTime(Date.now() + session.max_age * 1000);
    expect(runWithCookie(cookie, () => session.user())).toBeNull();
    expect(sessionId(requestContext(cookie))).toBeNull();
  });

  it("is no word for another configuration, nor for the same payload under another signature", () => {
    const cookie = signInCookie("ada");
    expect(runWithCookie(cookie, () => session.user()?.sub)).toBe("ada");
    const other = testConfig({ WEB_AUTH_SECRET: "7c".repeat(32) });
    expect(runWithCookie(cookie, () => session.user(), other)).toBeNull();
    const [, signature] = signInCookie("eve").split(".");
    expect(runWithCookie(`web_session=${payloadOf(cookie)}.${signature}`, () => session.user())).toBeNull();
  });

  it("gives each request the user as it was signed, whatever another request did", () => {
    const cookie = signInCookie("ada", { roles: ["editor"] });
    runWithCookie(cookie, () => session.logout());
    runWithCookie(cookie, () => session.login("eve"));
    expect(runWithCookie(cookie, () => session.user())).toEqual({ sub: "ada", roles: ["editor"] });
  });
});

describe("session.logout", () => {
  it("clears the cookie with the attributes it was set with", () => {
    for (const [own, line] of [
      [testConfig(), "web_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"],
      [
        testConfig({ WEB_COOKIE_SECURE: "1" }),
        "__Host-web_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax",
      ],
    ] as const) {
      const context = requestContext(signInCookie("ada", {}, own), own);
      runInContext(context, () => session.logout());
      expect([...context.setCookieHeaders]).toEqual([line]);
    }
  });

  it("is seen at once", () => {
    const context = requestContext(signInCookie("ada"));
    runInContext(context, () => {
      expect(session.user()).toEqual({ sub: "ada" });
      session.logout();
      expect(session.user()).toBeNull();
      expect(sessionId(context)).toBeNull();
      expect(() => session.require()).toThrow("Please sign in");
    });
  });

  it("takes back a sign-in on the way, and a sign-in takes it back", () => {
    const context = requestContext();
    runInContext(context, () => {
      session.login("ada");
      session.logout();
    });
    expect([...context.setCookieHeaders]).toEqual([expect.stringMatching(/^web_session=; Max-Age=0;/)]);
    runInContext(context, () => session.login("ada"));
    expect(runWithCookie(cookieHeaderOf(context), () => session.user())).toEqual({ sub: "ada" });
  });

  it("is no error when nobody is signed in", () => {
    expect(() => runWithCookie(undefined, () => session.logout())).not.toThrow();
  });
});

describe("sessionId", () => {
  it("is the sign-in's own, the same in each of its requests", () => {
    const cookie = signInCookie("ada");
    expect(sessionId(requestContext(cookie))).toMatch(/^[\w-]{22}$/);
    expect(sessionId(requestContext(cookie))).toBe(sessionId(requestContext(cookie)));
    expect(sessionId(requestContext(signInCookie("ada")))).not.toBe(sessionId(requestContext(cookie)));
    expect(sessionId(requestContext())).toBeNull();
  });
});

describe("session", () => {
  it("lasts seven days, in seconds", () => {
    expect(session.max_age).toBe(604_800);
  });

  it("cannot be changed", () => {
    expect(() => Object.assign(session, { max_age: 1 })).toThrow(TypeError);
  });

  it("throws outside a request, and says what was asked", () => {
    expect(() => session.user()).toThrow("session.user() was used outside a request");
    expect(() => session.require()).toThrow("session.require() was used outside a request");
    expect(() => session.login("ada")).toThrow("session.login() was used outside a request");
    expect(() => session.logout()).toThrow("session.logout() was used outside a request");
  });

  it("cannot sign in or out once the headers have left, and is then as it was", () => {
    const context = requestContext(signInCookie("ada"));
    runInContext(context, () => {
      context.headersSent = true;
      expect(() => session.login("grace")).toThrow("the first bytes of this answer have left");
      expect(() => session.logout()).toThrow("the first bytes of this answer have left");
      expect(session.user()).toEqual({ sub: "ada" });
    });
  });

  it("takes whatever it is called with, or throws a TypeError or RangeError", () => {
    fc.assert(
      fc.property(fc.array(fc.anything(), { maxLength: 3 }), (values) => {
        runWithCookie(undefined, () => {
          for (const call of [session.login, session.user, session.logout]) {
            try {
              Reflect.apply(call, session, values);
            } catch (error) {
              expect(error instanceof TypeError || error instanceof RangeError).toBe(true);
            }
          }
        });
      }),
    );
  });
});

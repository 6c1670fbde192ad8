import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cookieHeaderOf, requestContext, runWithCookie, signInCookie, testConfig } from "#test/request-context";
import { runInContext } from "../http/index.ts";
import { sessionId } from "./current-session.ts";
import { session } from "./session.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const WEEK_MS = 7 * 24 * 3600 * 1000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("session.login", () => {
  it("sets the session cookie with Max-Age, Path, HttpOnly and SameSite=Lax [SESSION-6]", () => {
    const context = requestContext();
    runInContext(context, () => session.login("ada"));
    const [header, ...others] = context.setCookieHeaders;
    expect(header).toMatch(/^web_session=[\w-]+\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(others).toEqual([]);
  });

  it("sets a cookie with the prefix __Host-, which no sibling site can set, if cookies are secure [SESSION-7]", () => {
    const context = requestContext(undefined, testConfig({ WEB_COOKIE_SECURE: "1" }));
    runInContext(context, () => session.login("ada"));
    expect([...context.setCookieHeaders]).toEqual([
      expect.stringMatching(
        /^__Host-web_session=[\w-]+\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
  });

  it("signs a payload of sub, the claims, sid, iat and exp", () => {
    const [, payload = ""] = /=([\w-]+)\./.exec(signInCookie("ada", { name: "Ada" })) ?? [];
    expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toEqual({
      sub: "ada",
      name: "Ada",
      sid: expect.stringMatching(/^[\w-]{22}$/),
      iat: NOW / 1000,
      exp: NOW / 1000 + 604_800,
    });
  });

  it("takes effect at once, with the same user as in the next request", () => {
    const context = requestContext();
    const claims = { name: "Ada ✓", roles: ["admin"], none: null, n: { m: [1, { o: true }] }, out: undefined };
    const user = runInContext(context, () => {
      expect(session.user()).toBeNull();
      session.login("ada", claims);
      return session.user();
    });
    expect(user).toEqual({ sub: "ada", name: "Ada ✓", roles: ["admin"], none: null, n: { m: [1, { o: true }] } });
    expect(runWithCookie(cookieHeaderOf(context), () => session.user())).toEqual(user);
    expect(user).not.toHaveProperty("out");
  });

  it("copies the claims, so that later changes of the caller have no effect", () => {
    runWithCookie(undefined, () => {
      const roles = ["editor"];
      session.login("ada", { roles });
      roles.push("admin");
      expect(session.user()).toEqual({ sub: "ada", roles: ["editor"] });
    });
  });

  it("replaces an earlier sign-in and its claims with one cookie and a new sid", () => {
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
  ])("refuses %s, and does not change the session", (_what, sub) => {
    const context = requestContext(signInCookie("grace"));
    runInContext(context, () => {
      expect(() => Reflect.apply(session.login, session, [sub])).toThrow(TypeError);
      expect(session.user()).toEqual({ sub: "grace" });
    });
    expect([...context.setCookieHeaders]).toEqual([]);
  });

  it.each(["sub", "sid", "iat", "exp", "rev_pos"])(
    "refuses the claim %s, so that no claim can replace the user [SESSION-39]",
    (name) => {
      expect(() => signInCookie("ada", { [name]: "root" })).toThrow(`a claim cannot be named "${name}"`);
    },
  );

  it("refuses the claim __proto__, and claims that JSON cannot represent", () => {
    expect(() => signInCookie("ada", JSON.parse('{"__proto__":{"roles":["admin"]}}'))).toThrow("__proto__");
    expect(() => signInCookie("ada", { born: new Date(0) })).toThrow("claims.born is an instance of a class");
  });
});

describe("session.user", () => {
  it("returns null without a cookie", () => {
    expect(runWithCookie(undefined, () => session.user())).toBeNull();
    expect(runWithCookie("", () => session.user())).toBeNull();
    expect(runWithCookie("other=1", () => session.user())).toBeNull();
  });

  it("returns a frozen user, and the same object throughout the request", () => {
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

  it("returns a user without sid, iat and exp", () => {
    expect(Object.keys(runWithCookie(signInCookie("ada", { name: "Ada" }), () => session.user()) ?? {})).toEqual([
      "sub",
      "name",
    ]);
  });

  it("returns the user of each request when requests run concurrently [SESSION-34]", async () => {
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

  it("accepts a cookie in every process with the same secret, and in no other", () => {
    const cookie = signInCookie("ada");
    expect(runWithCookie(cookie, () => session.user(), testConfig())).toEqual({ sub: "ada" });
    expect(runWithCookie(cookie, () => session.user(), testConfig({ WEB_AUTH_SECRET: "5b".repeat(32) }))).toBeNull();
  });

  it("accepts a cookie of a previous secret while that is listed", () => {
    const cookie = signInCookie("ada");
    const rotated = {
      WEB_AUTH_SECRET: "77".repeat(32),
      WEB_AUTH_SECRET_PREVIOUS: `${"66".repeat(32)},${"5a".repeat(32)}`,
    };
    expect(runWithCookie(cookie, () => session.user(), testConfig(rotated))).toEqual({ sub: "ada" });
    const renewed = signInCookie("ada", {}, testConfig(rotated));
    expect(runWithCookie(renewed, () => session.user())).toBeNull(); // the previous secret verifies, but never signs
  });

  it("returns null after 7 days, to the millisecond, even if the browser keeps the cookie", () => {
    const cookie = signInCookie("ada");
    vi.setSystemTime(NOW + WEEK_MS - 1);
    expect(runWithCookie(cookie, () => session.user())).toEqual({ sub: "ada" });
    vi.setSystemTime(NOW + WEEK_MS);
    expect(runWithCookie(cookie, () => session.user())).toBeNull();
  });

  it("returns null in a stream once the session has expired, whether the sign-in was before or in it", () => {
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

describe("a session cookie that was verified before", () => {
  const payloadOf = (cookie: string) => cookie.slice("web_session=".length).split(".")[0] ?? "";

  it("is refused with any character changed", () => {
    const cookie = signInCookie("ada");
    expect(runWithCookie(cookie, () => session.user()?.sub)).toBe("ada");
    for (let at = "web_session=".length; at < cookie.length; at++) {
      const changed = `${cookie.slice(0, at)}${cookie[at] === "A" ? "B" : "A"}${cookie.slice(at + 1)}`;
      expect(runWithCookie(changed, () => session.user())).toBeNull();
      expect(runWithCookie(cookie, () => session.user()?.sub)).toBe("ada");
    }
  });

  it("expires after 7 days", () => {
    const cookie = signInCookie("ada");
    expect(runWithCookie(cookie, () => session.user()?.sub)).toBe("ada");
    vi.setSystemTime(Date.now() + session.max_age * 1000);
    expect(runWithCookie(cookie, () => session.user())).toBeNull();
    expect(sessionId(requestContext(cookie))).toBeNull();
  });

  it("is refused under another configuration, and with the signature of another cookie", () => {
    const cookie = signInCookie("ada");
    expect(runWithCookie(cookie, () => session.user()?.sub)).toBe("ada");
    const otherConfig = testConfig({ WEB_AUTH_SECRET: "7c".repeat(32) });
    expect(runWithCookie(cookie, () => session.user(), otherConfig)).toBeNull();
    const [, signature] = signInCookie("eve").split(".");
    expect(runWithCookie(`web_session=${payloadOf(cookie)}.${signature}`, () => session.user())).toBeNull();
  });

  it("is read as it was signed, regardless of what other requests did", () => {
    const cookie = signInCookie("ada", { roles: ["editor"] });
    runWithCookie(cookie, () => session.logout());
    runWithCookie(cookie, () => session.login("eve"));
    expect(runWithCookie(cookie, () => session.user())).toEqual({ sub: "ada", roles: ["editor"] });
  });
});

describe("session.logout", () => {
  it("removes the cookie with the attributes it was set with", () => {
    for (const [config, header, attributes] of [
      [testConfig(), "web_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax", "Max-Age=1800; Path=/; HttpOnly"],
      [
        testConfig({ WEB_COOKIE_SECURE: "1" }),
        "__Host-web_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax",
        "Max-Age=1; Path=/; HttpOnly; Secure",
      ],
    ] as const) {
      const context = requestContext(signInCookie("ada", {}, config), config);
      runInContext(context, () => session.logout());
      expect([...context.setCookieHeaders]).toEqual([`web_signed_out=1; ${attributes}; SameSite=Lax`, header]);
    }
  });

  it("is the last cookie of the response, because curl 7.88 keeps a cookie whose removal precedes another cookie", () => {
    const context = requestContext(signInCookie("ada"));
    runInContext(context, () => {
      session.logout();
      context.setCookie("theme", "dark");
    });
    expect([...context.setCookieHeaders].at(-1)).toMatch(/^web_session=; Max-Age=0;/);
  });

  it("takes effect at once", () => {
    const context = requestContext(signInCookie("ada"));
    runInContext(context, () => {
      expect(session.user()).toEqual({ sub: "ada" });
      session.logout();
      expect(session.user()).toBeNull();
      expect(sessionId(context)).toBeNull();
      expect(() => session.require()).toThrow("Please sign in");
    });
  });

  it("cancels a sign-in of the same request, and a later sign-in cancels it", () => {
    const context = requestContext();
    runInContext(context, () => {
      session.login("ada");
      session.logout();
    });
    expect([...context.setCookieHeaders]).toEqual([
      expect.stringMatching(/^web_signed_out=1;/),
      expect.stringMatching(/^web_session=; Max-Age=0;/),
    ]);
    runInContext(context, () => session.login("ada"));
    expect(runWithCookie(cookieHeaderOf(context), () => session.user())).toEqual({ sub: "ada" });
  });

  it("does not throw for a signed-out client", () => {
    expect(() => runWithCookie(undefined, () => session.logout())).not.toThrow();
  });
});

describe("sessionId", () => {
  it("returns an id that is the same in all requests of a sign-in, and different for others", () => {
    const cookie = signInCookie("ada");
    expect(sessionId(requestContext(cookie))).toMatch(/^[\w-]{22}$/);
    expect(sessionId(requestContext(cookie))).toBe(sessionId(requestContext(cookie)));
    expect(sessionId(requestContext(signInCookie("ada")))).not.toBe(sessionId(requestContext(cookie)));
    expect(sessionId(requestContext())).toBeNull();
  });
});

describe("the session object", () => {
  it("has a max_age of 7 days, in seconds", () => {
    expect(session.max_age).toBe(604_800);
  });

  it("is frozen", () => {
    expect(() => Object.assign(session, { max_age: 1 })).toThrow(TypeError);
  });

  it("throws outside a request, and names the method", () => {
    expect(() => session.user()).toThrow("session.user() was used outside a request");
    expect(() => session.require()).toThrow("session.require() was used outside a request");
    expect(() => session.login("ada")).toThrow("session.login() was used outside a request");
    expect(() => session.logout()).toThrow("session.logout() was used outside a request");
  });

  it("throws and does not change once the headers of the response have been sent", () => {
    const context = requestContext(signInCookie("ada"));
    runInContext(context, () => {
      context.headersSent = true;
      expect(() => session.login("grace")).toThrow("the headers of the response have already been sent");
      expect(() => session.logout()).toThrow("the headers of the response have already been sent");
      expect(session.user()).toEqual({ sub: "ada" });
    });
  });

  it("accepts any arguments or throws a TypeError or RangeError", () => {
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

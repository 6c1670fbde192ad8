import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Config, type Environment, loadConfig } from "../config.ts";
import { RPCError } from "../errors.ts";
import { RequestContext, runInContext } from "../http/index.ts";
import { keysFor, signToken } from "./index.ts";
import { session, sessionId } from "./session.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const WEEK_MS = 7 * 24 * 3600 * 1000;

function configWith(env: Environment = {}): Config {
  return loadConfig({ WEB_AUTH_SECRET: "5a".repeat(32), ...env }, { built: false, projectDir: "/app" });
}

const config = configWith();

function contextWith(cookie?: string, own: Config = config): RequestContext {
  const request = new Request("http://localhost/", { headers: cookie === undefined ? {} : { cookie } });
  return new RequestContext({
    request,
    url: new URL(request.url),
    id: "1",
    traceparent: "",
    address: "::1",
    config: own,
  });
}

/** Runs work in a request that carries this cookie. */
function within<T>(cookie: string | undefined, work: () => T, own: Config = config): T {
  return runInContext(contextWith(cookie, own), work);
}

/** Signs in, in a request of its own, and gives the cookie as the next request sends it. */
function signIn(sub = "ada", claims: Record<string, unknown> = {}, own: Config = config): string {
  const context = contextWith(undefined, own);
  runInContext(context, () => Reflect.apply(session.login, session, [sub, claims]));
  return sentBack(context);
}

/** The cookies of an answer as the next request sends them. */
function sentBack(context: RequestContext): string {
  return [...context.outgoingCookies].map((line) => line.split(";")[0]).join("; ");
}

/** A cookie with any payload at all, signed with the right key. */
function signed(payload: unknown, own: Config = config): string {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  return `web_session=${signToken(keysFor(own, "session").sign, text)}`;
}

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof RPCError) return error.code;
    throw error;
  }
  return "none";
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("session.login", () => {
  it("sets the cookie with the interface's attributes", () => {
    const context = contextWith();
    runInContext(context, () => session.login("ada"));
    const [line, ...others] = context.outgoingCookies;
    expect(line).toMatch(/^web_session=[\w-]+\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(others).toEqual([]);
  });

  it("with secure cookies sets one that no sibling site can plant", () => {
    const context = contextWith(undefined, configWith({ WEB_COOKIE_SECURE: "1" }));
    runInContext(context, () => session.login("ada"));
    expect([...context.outgoingCookies]).toEqual([
      expect.stringMatching(
        /^__Host-web_session=[\w-]+\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
  });

  it("signs the payload sub, claims, sid, iat, exp", () => {
    const [, payload = ""] = /=([\w-]+)\./.exec(signIn("ada", { name: "Ada" })) ?? [];
    expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toEqual({
      sub: "ada",
      name: "Ada",
      sid: expect.stringMatching(/^[\w-]{22}$/),
      iat: NOW / 1000,
      exp: NOW / 1000 + 604_800,
    });
  });

  it("is seen at once, as it will be seen in the next request", () => {
    const context = contextWith();
    const claims = { name: "Ada ✓", roles: ["admin"], none: null, n: { m: [1, { o: true }] }, out: undefined };
    const now = runInContext(context, () => {
      expect(session.user()).toBeNull();
      session.login("ada", claims);
      return session.user();
    });
    expect(now).toEqual({ sub: "ada", name: "Ada ✓", roles: ["admin"], none: null, n: { m: [1, { o: true }] } });
    expect(within(sentBack(context), () => session.user())).toEqual(now);
    expect(now).not.toHaveProperty("out");
  });

  it("keeps a copy: what the caller changes afterwards does not change the session", () => {
    within(undefined, () => {
      const roles = ["editor"];
      session.login("ada", { roles });
      roles.push("admin");
      expect(session.user()).toEqual({ sub: "ada", roles: ["editor"] });
    });
  });

  it("replaces a sign-in, claims and all, with one cookie and another sid", () => {
    const context = contextWith(signIn("ada", { name: "Ada", roles: ["admin"] }));
    const before = sessionId(context);
    runInContext(context, () => {
      session.login("grace", { name: "Grace" });
      expect(session.user()).toEqual({ sub: "grace", name: "Grace" });
      const between = sessionId(context);
      session.login("ada");
      expect(session.user()).toEqual({ sub: "ada" });
      expect(new Set([before, between, sessionId(context)]).size).toBe(3);
    });
    expect([...context.outgoingCookies]).toHaveLength(1);
    expect(within(sentBack(context), () => session.user())).toEqual({ sub: "ada" });
  });

  it.each([
    ["no user id", undefined],
    ["an empty user id", ""],
    ["a number for a user id", 42],
  ])("refuses %s, and signs nobody in or out", (_what, sub) => {
    const context = contextWith(signIn("grace"));
    runInContext(context, () => {
      expect(() => Reflect.apply(session.login, session, [sub])).toThrow(TypeError);
      expect(session.user()).toEqual({ sub: "grace" });
    });
    expect([...context.outgoingCookies]).toEqual([]);
  });

  it.each(["sub", "sid", "iat", "exp"])("refuses the claim %s: nobody becomes another through a claim", (name) => {
    expect(() => signIn("ada", { [name]: "root" })).toThrow(`a claim cannot be named "${name}"`);
  });

  it("refuses the claim __proto__, and claims that JSON cannot hold", () => {
    expect(() => signIn("ada", JSON.parse('{"__proto__":{"roles":["admin"]}}'))).toThrow("__proto__");
    expect(() => signIn("ada", { born: new Date(0) })).toThrow("claims.born is an instance of a class");
  });

  describe("when the cookie grows", () => {
    /** Signs in with a claim so long that the cookie, name and all, has just this many bytes. */
    function signInWithSize(bytes: number, own: Config): string {
      const lengthWith = (claim: number) => signIn("a", { c: "x".repeat(claim) }, own).length;
      const claim = Math.floor(((bytes - lengthWith(0)) * 3) / 4);
      for (const length of [claim - 1, claim, claim + 1, claim + 2]) {
        const payload = { sub: "a", c: "x".repeat(length), sid: "x".repeat(22), iat: 1767323045, exp: 1767927845 };
        const name = own.cookieSecure ? "__Host-web_session" : "web_session";
        const size = name.length + 1 + signToken(keysFor(own, "session").sign, JSON.stringify(payload)).length;
        if (size === bytes) return signIn("a", { c: "x".repeat(length) }, own);
      }
      throw new Error(`No claim makes a cookie of ${bytes} bytes.`);
    }
    const plain = configWith();
    const secure = configWith({ WEB_COOKIE_SECURE: "1" });

    // Base64 has no texts of 4n + 1 characters, so not every size exists under both names.
    it.each([
      [4095, plain],
      [4096, plain],
      [4094, secure],
      [4095, secure],
    ])("to %i bytes, it is kept", (bytes, own) => {
      const cookie = signInWithSize(bytes, own);
      expect(cookie.length).toBe(bytes);
      expect(within(cookie, () => session.user()?.sub, own)).toBe("a");
    });

    it.each([
      [4097, secure],
      [4098, plain],
    ])("to %i bytes, it is refused and its size is named", (bytes, own) => {
      expect(() => signInWithSize(bytes, own)).toThrow(RangeError);
      expect(() => signInWithSize(bytes, own)).toThrow(`would be ${bytes} bytes, and browsers drop one over 4096`);
    });

    it("counts bytes, not characters", () => {
      expect(() => signIn("a", { name: "é".repeat(1500) })).toThrow(RangeError);
      expect(() => signIn("a", { name: "e".repeat(1500) })).not.toThrow();
    });

    it("leaves the session as it was when it is refused", () => {
      const context = contextWith(signIn("grace"));
      runInContext(context, () => {
        expect(() => session.login("ada", { long: "x".repeat(5000) })).toThrow(RangeError);
        expect(session.user()).toEqual({ sub: "grace" });
      });
      expect([...context.outgoingCookies]).toEqual([]);
    });
  });
});

describe("session.user", () => {
  it("is null without a cookie", () => {
    expect(within(undefined, () => session.user())).toBeNull();
    expect(within("", () => session.user())).toBeNull();
    expect(within("other=1", () => session.user())).toBeNull();
  });

  it("is frozen, and the same object throughout the request", () => {
    within(signIn("ada", { roles: ["editor"] }), () => {
      const user = session.user();
      expect(user).not.toBeNull();
      expect(session.user()).toBe(user);
      expect(session.require()).toBe(user);
      expect(() => Object.assign(user ?? {}, { sub: "root" })).toThrow(TypeError);
      expect(() => Array.prototype.push.call(user?.roles, "admin")).toThrow(TypeError);
      expect(codeOf(() => session.require("admin"))).toBe("forbidden");
    });
  });

  it("never shows sid, iat and exp", () => {
    expect(Object.keys(within(signIn("ada", { name: "Ada" }), () => session.user()) ?? {})).toEqual(["sub", "name"]);
  });

  it("is each request's own, with requests side by side", async () => {
    const work = (sub: string) =>
      within(signIn(sub), async () => {
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
    const cookie = signIn("ada");
    expect(within(cookie, () => session.user(), configWith())).toEqual({ sub: "ada" });
    expect(within(cookie, () => session.user(), configWith({ WEB_AUTH_SECRET: "5b".repeat(32) }))).toBeNull();
  });

  it("lasts through a change of the secret, as long as the old one is listed", () => {
    const cookie = signIn("ada");
    const rotated = {
      WEB_AUTH_SECRET: "77".repeat(32),
      WEB_AUTH_SECRET_PREVIOUS: `${"66".repeat(32)},${"5a".repeat(32)}`,
    };
    expect(within(cookie, () => session.user(), configWith(rotated))).toEqual({ sub: "ada" });
    const renewed = signIn("ada", {}, configWith(rotated));
    expect(within(renewed, () => session.user())).toBeNull(); // the old secret verifies, and signs nothing new
  });

  it("ends after seven days, to the millisecond, whatever the browser does", () => {
    const cookie = signIn("ada");
    vi.setSystemTime(NOW + WEEK_MS - 1);
    expect(within(cookie, () => session.user())).toEqual({ sub: "ada" });
    vi.setSystemTime(NOW + WEEK_MS);
    expect(within(cookie, () => session.user())).toBeNull();
  });

  it("ends in a stream that outlives it, whether it was signed in before or in it", () => {
    for (const cookie of [signIn("ada"), undefined]) {
      vi.setSystemTime(NOW);
      const context = contextWith(cookie);
      runInContext(context, () => {
        if (!cookie) session.login("ada");
        vi.setSystemTime(NOW + WEEK_MS - 1);
        expect(session.user()).toEqual({ sub: "ada" });
        vi.setSystemTime(NOW + WEEK_MS);
        expect(session.user()).toBeNull();
        expect(sessionId(context)).toBeNull();
        expect(codeOf(() => session.require())).toBe("unauthenticated");
      });
    }
  });

  describe("with a cookie that is not right is null, without an error:", () => {
    const cookie = signIn("ada", { roles: ["admin"] });
    const [name, token = ""] = cookie.split(/=(.*)/s);

    it("changed at any one character", () => {
      vi.setSystemTime(Date.now());
      const fresh = signIn("ada");
      const value = fresh.slice("web_session=".length);
      for (let at = 0; at < value.length; at++) {
        for (const character of ["A", "B", "z", "0", "-", "_", ".", "=", "~"]) {
          if (value[at] === character) continue;
          const changed = `web_session=${value.slice(0, at)}${character}${value.slice(at + 1)}`;
          if (within(changed, () => session.user()) !== null) expect.fail(`${character} at ${at} was taken`);
        }
      }
    });

    it.each([
      ["empty", ""],
      ["a dot", "."],
      ["no signature", token.split(".")[0]],
      ["an empty signature", `${token.split(".")[0]}.`],
      ["no payload", `.${token.split(".")[1]}`],
      ["another cookie's text", "GA1.2.1234.5678"],
      ["quoted", `"${token}"`],
      ["percent-encoded", token.replace(/^./, (c) => `%${c.charCodeAt(0).toString(16)}`)],
      ["padded", `${token}=`],
      ["followed by more", `${token}.x`],
      ["twice itself", `${token}${token}`],
      ["a JSON text", '{"sub":"ada"}'],
      ["a web token without a signature", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."],
      ["16 KB long", "A".repeat(16_384)],
      ["thousands of dots", ".".repeat(4_000)],
    ])("%s", (_what, value) => {
      expect(within(`${name}=${value}`, () => session.user())).toBeNull();
    });

    const iat = NOW / 1000;
    const good = { sub: "ada", sid: "s", iat, exp: iat + 100 };
    it("(what the next ones change is right)", () => {
      expect(within(signed(good), () => session.user())).toEqual({ sub: "ada" });
    });

    it.each([
      ["no object", "[]"],
      ["null", "null"],
      ["a string", '"ada"'],
      ["a number", "1"],
      ["no JSON", "{sub:ada}"],
      ["nothing", ""],
      ["without sub", { ...good, sub: undefined }],
      ["with an empty sub", { ...good, sub: "" }],
      ["with a number for a sub", { ...good, sub: 1 }],
      ["without sid", { ...good, sid: undefined }],
      ["without exp", { ...good, exp: undefined }],
      ["with a text for an exp", { ...good, exp: "9999999999" }],
      ["expired", { ...good, exp: iat }],
      ["without iat", { ...good, iat: undefined }],
      ["from the far future", { ...good, iat: iat + 3600, exp: iat + 7200 }],
      ["longer than seven days", { ...good, exp: iat + 604_801 }],
    ])("well signed, its payload %s", (_what, payload) => {
      expect(within(signed(payload), () => session.user())).toBeNull();
    });

    it("signed for another purpose, with the same secret", () => {
      const own = configWith({ WEB_CSRF_SECRET: "5a".repeat(32) });
      for (const purpose of ["feed", "csrf"] as const) {
        const foreign = signToken(keysFor(own, purpose).sign, JSON.stringify(good));
        expect(within(`web_session=${foreign}`, () => session.user(), own)).toBeNull();
      }
    });

    it("sent twice, in any order, also when both are the same", () => {
      const fresh = signIn("ada");
      const planted = signIn("mallory");
      for (const both of [
        `${fresh}; ${planted}`,
        `${planted}; ${fresh}`,
        `${fresh}; ${fresh}`,
        `web_session=; ${fresh}`,
      ]) {
        expect(within(both, () => session.user())).toBeNull();
      }
    });

    it("without the prefix where cookies are secure, or with it where they are not", () => {
      const secure = configWith({ WEB_COOKIE_SECURE: "1" });
      expect(within(signIn("ada"), () => session.user(), secure)).toBeNull();
      expect(within(signIn("ada", {}, secure), () => session.user())).toBeNull();
      const both = `${signIn("mallory")}; ${signIn("ada", {}, secure)}`;
      expect(within(both, () => session.user(), secure)).toEqual({ sub: "ada" });
    });

    it("of any text whatever", () => {
      const text = fc.string({ unit: fc.constantFrom(...'ab.=_-"%{}[]:, ;') });
      fc.assert(
        fc.property(text, text, (a, b) => {
          expect(within(`web_session=${a}; ${b}`, () => session.user())).toBeNull();
        }),
      );
    });
  });
});

describe("session.require", () => {
  it("gives the user", () => {
    within(signIn("ada", { name: "Ada" }), () => expect(session.require()).toEqual({ sub: "ada", name: "Ada" }));
  });

  it("is unauthenticated when signed out, whatever the role", () => {
    expect(codeOf(() => within(undefined, () => session.require()))).toBe("unauthenticated");
    expect(codeOf(() => within("web_session=forged", () => session.require("admin")))).toBe("unauthenticated");
  });

  it.each([
    // the claim, the roles asked for, what comes of it
    [["admin"], [], "none"],
    [["admin"], ["admin"], "none"],
    [["admin", "editor"], ["admin"], "none"],
    [["admin", "editor"], ["editor", "admin"], "none"],
    [["admin", "editor"], ["admin", "admin"], "none"],
    [["editor"], ["admin"], "forbidden"],
    [["editor"], ["editor", "admin"], "forbidden"],
    [["Admin"], ["admin"], "forbidden"],
    [["admin "], ["admin"], "forbidden"],
    [["superadmin"], ["admin"], "forbidden"],
    [[""], ["admin"], "forbidden"],
    [["admin"], [""], "forbidden"],
    [[], ["admin"], "forbidden"],
    [[], [], "none"],
    [undefined, ["admin"], "forbidden"],
    [undefined, [], "none"],
    // claims that are no list of strings
    ["admin", ["admin"], "forbidden"],
    ["superadmin", ["admin"], "forbidden"],
    ["admin,editor", ["admin"], "forbidden"],
    [null, ["admin"], "forbidden"],
    [true, ["admin"], "forbidden"],
    [1, ["admin"], "forbidden"],
    [{ admin: true }, ["admin"], "forbidden"],
    [{ 0: "admin", length: 1 }, ["admin"], "forbidden"],
    [["admin", 1], ["admin"], "forbidden"],
    [["admin", null], ["admin"], "forbidden"],
    [[["admin"]], ["admin"], "forbidden"],
    [["__proto__"], ["constructor"], "forbidden"],
    ["admin", [], "none"],
  ])("with the claim %j, asked for %j: %s", (roles, asked, outcome) => {
    const cookie = signIn("ada", { roles });
    expect(codeOf(() => within(cookie, () => session.require(...asked)))).toBe(outcome);
  });

  it("takes no other claim for roles", () => {
    const cookie = signIn("admin", { role: "admin", admin: true, groups: ["admin"] });
    expect(codeOf(() => within(cookie, () => session.require("admin")))).toBe("forbidden");
  });

  it.each([[[["admin"]]], [[undefined]], [[null]], [[1]], [["admin", ["editor"]]], [[{}]]])(
    "throws for roles that are no strings, rather than let anybody in: %j",
    (asked) => {
      for (const cookie of [signIn("ada", { roles: ["admin"] }), undefined]) {
        expect(() => within(cookie, () => Reflect.apply(session.require, session, asked))).toThrow(TypeError);
      }
    },
  );

  it("says nothing of what would be needed", () => {
    const cookie = signIn("ada");
    expect(() => within(cookie, () => session.require("secret-role"))).toThrow(/^(?!.*secret-role)/);
  });
});

describe("session.logout", () => {
  it("clears the cookie with the attributes it was set with", () => {
    for (const [own, line] of [
      [config, "web_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"],
      [
        configWith({ WEB_COOKIE_SECURE: "1" }),
        "__Host-web_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax",
      ],
    ] as const) {
      const context = contextWith(signIn("ada", {}, own), own);
      runInContext(context, () => session.logout());
      expect([...context.outgoingCookies]).toEqual([line]);
    }
  });

  it("is seen at once", () => {
    const context = contextWith(signIn("ada"));
    runInContext(context, () => {
      expect(session.user()).toEqual({ sub: "ada" });
      session.logout();
      expect(session.user()).toBeNull();
      expect(sessionId(context)).toBeNull();
      expect(codeOf(() => session.require())).toBe("unauthenticated");
    });
  });

  it("takes back a sign-in on the way, and a sign-in takes it back", () => {
    const context = contextWith();
    runInContext(context, () => {
      session.login("ada");
      session.logout();
    });
    expect([...context.outgoingCookies]).toEqual([expect.stringMatching(/^web_session=; Max-Age=0;/)]);
    runInContext(context, () => session.login("ada"));
    expect(within(sentBack(context), () => session.user())).toEqual({ sub: "ada" });
  });

  it("is no error when nobody is signed in", () => {
    expect(() => within(undefined, () => session.logout())).not.toThrow();
  });
});

describe("sessionId", () => {
  it("is the sign-in's own, the same in each of its requests", () => {
    const cookie = signIn("ada");
    expect(sessionId(contextWith(cookie))).toMatch(/^[\w-]{22}$/);
    expect(sessionId(contextWith(cookie))).toBe(sessionId(contextWith(cookie)));
    expect(sessionId(contextWith(signIn("ada")))).not.toBe(sessionId(contextWith(cookie)));
    expect(sessionId(contextWith())).toBeNull();
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
    const context = contextWith(signIn("ada"));
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
        within(undefined, () => {
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

import { describe, expect, it } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { BUILT, configErrorOf, DEV, loadDevelopment, SECRET } from "#test/environment";
import type { App } from "../app.ts";
import { CookieJar } from "../cookie-jar.ts";
import { session } from "../session/index.ts";
import { loadConfig } from "./index.ts";
import { defaultSessionCookie } from "./realm.ts";

const production = { WEB_AUTH_SECRET: SECRET };

describe("the name of the session cookie", () => {
  it("is web_session in production, whatever the realm", () => {
    expect(loadConfig({ ...production, WEB_REALM: "shop" }, BUILT).sessionCookie).toBe("web_session");
  });

  it.each([
    ["shop", "web_session_shop"],
    ["@acme/shop", "web_session_acme__shop"],
    ["my.shop~2", "web_session_my_shop_2"],
  ])("has the realm %j of the project in development", (realm, name) => {
    expect(loadDevelopment({ WEB_REALM: realm }).sessionCookie).toBe(name);
  });

  it("is web_session for a project without a name in development", () => {
    expect(loadDevelopment().sessionCookie).toBe("web_session");
  });

  it("is bounded for the longest realm, and differs for two that differ at the end", () => {
    const names = ["a", "b"].map((end) => defaultSessionCookie("x".repeat(213) + end, false));
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^[\w-]{1,76}$/);
  });

  it.each([DEV, BUILT])("is that of the application, and that of the environment before it: %j", (options) => {
    const withOption = { ...options, sessionCookie: "shop_session" };
    expect(loadConfig(production, withOption).sessionCookie).toBe("shop_session");
    const env = { ...production, WEB_SESSION_COOKIE: "blue_session" };
    expect(loadConfig(env, withOption).sessionCookie).toBe("blue_session");
    expect(loadConfig(env, options).sessionCookie).toBe("blue_session");
  });

  it("has the prefix __Host-, which sibling sites cannot set, if cookies are secure", () => {
    const env = { ...production, WEB_COOKIE_SECURE: "1" };
    expect(loadConfig(env, BUILT).sessionCookie).toBe("__Host-web_session");
    expect(loadConfig({ ...env, WEB_SESSION_COOKIE: "shop" }, BUILT).sessionCookie).toBe("__Host-shop");
    expect(loadConfig(env, { ...BUILT, sessionCookie: "shop" }).sessionCookie).toBe("__Host-shop");
  });

  it.each(["s", "shop_session", "Shop.Session-2", "!#$%&'*+-.^_`|~", "x".repeat(64)])("can be %j", (name) => {
    expect(loadDevelopment({ WEB_SESSION_COOKIE: name }).sessionCookie).toBe(name);
    expect(() => createApp(name)).not.toThrow();
  });

  it.each([
    ...["a b", "a=b", "a;b", "a,b", 'a"b', "a\n", "é", "a/b", "x".repeat(65)],
    ...["__Host-shop", "__host-shop", "__Secure-shop", "__Http-shop", "__Host-Http-shop", "web_signed_out"],
  ])("cannot be %j [SESSION-45]", (name) => {
    const [problem] = configErrorOf({ WEB_SESSION_COOKIE: name }).problems;
    expect(problem?.variable).toBe("WEB_SESSION_COOKIE");
    expect(() => createApp(name)).toThrow(`new App: session.cookie ${problem?.problem} ${problem?.fix}`);
  });

  it("is refused with the reason and the fix", () => {
    expect(() => createApp("__Host-shop")).toThrow(
      'new App: session.cookie is "__Host-shop", which has a prefix of browsers. Set the name without the prefix: with ' +
        "WEB_COOKIE_SECURE=1, tsweb adds __Host- itself.",
    );
    expect(() => createApp("web_signed_out")).toThrow("which is another cookie of tsweb. Choose another name");
    expect(() => createApp("a b")).toThrow(
      'is "a b", which is not the name of a cookie. Set it to a name like "shop_session": 1 to 64 letters',
    );
  });

  it.each([null, 1, "shop_session", { name: "shop" }, { cookie: 1 }, { cookie: "" }])(
    "is refused with the option session %j",
    (session) => {
      expect(() => createApp(undefined, session)).toThrow(/session/);
    },
  );
});

describe("two applications on localhost in development", () => {
  const login = compiledServer("login", () => session.login("ada"));
  const whoami = compiledServer("whoami", () => session.user()?.sub ?? null);
  const applications = ["shop", "blog"].map((realm, index) =>
    createTestApp({ login, whoami }, { env: { WEB_AUTH_SECRET: `${index}a`.repeat(32), WEB_REALM: realm } }),
  );

  it("do not sign each other's users out, although they share their cookies", async () => {
    const jar = new CookieJar();
    const call = async (app: App, name: string) => {
      const response = await callOverHttp(app, name, {}, { headers: { cookie: jar.cookieHeader() ?? "" } });
      jar.storeSetCookies(response.headers.getSetCookie());
      return (await response.json()).result;
    };
    for (const app of applications) await call(app, "login");
    for (const app of applications) expect(await call(app, "whoami")).toBe("ada");
    expect(Object.keys(jar.all())).toEqual(["web_session_shop", "web_session_blog"]);
  });
});

function createApp(cookie: string | undefined, session: unknown = { cookie }) {
  return createTestApp({ ping: compiledServer("ping", () => 1) }, { session } as never);
}

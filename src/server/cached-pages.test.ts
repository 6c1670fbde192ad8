import { h } from "preact";
import { describe, expect, it } from "vitest";
import { compiledPage, compiledServer, compiledView, createTestApp, getPage } from "#test/compiled-app";
import { recordedLog } from "#test/recorded-log";
import type { AppOptions } from "../app.ts";
import { RPCError } from "../errors.ts";
import { redirect, request } from "../http/index.ts";
import { channel, presence, publish } from "../live/index.ts";
import type { PageFunction, PageOptions } from "../pages/index.ts";
import { session } from "../session/index.ts";
import { revalidate } from "./cached-pages.ts";

const SECRETS = { WEB_AUTH_SECRET: "5a".repeat(32) };

/** Returns an application with one page that is cached for a minute, and how often it was rendered. */
async function createCachedApp(
  render: PageFunction<"/news">,
  options: PageOptions = { cache: { seconds: 60 } },
  { env = {}, ...app }: Partial<AppOptions> = {},
) {
  const count = { renderings: 0 };
  const { log, lines } = recordedLog();
  const news = compiledPage(
    "/news",
    (params) => {
      count.renderings++;
      return render(params);
    },
    options,
  );
  const touch = compiledPage("/touch", async () => {
    await revalidate("/news");
    return h("p", null, "done");
  });
  const created = createTestApp({ news, touch }, { log, ...app, env: { ...SECRETS, ...env } });
  await created.start();
  await new Promise(setImmediate); // the bus in memory is watched then
  return { app: created, count, lines };
}

const shown = (text: string) => h("p", null, text);

describe("pages with the option cache", () => {
  it("are rendered once for all clients, for shared caches too, with an entity tag", async () => {
    const { app, count } = await createCachedApp(() => shown(`number ${count.renderings}`));
    const responses = [await getPage(app, "/news"), await getPage(app, "/news?utm=x", { headers: { cookie: "a=b" } })];
    for (const response of responses) {
      expect(response.status).toBe(200);
      expect(await response.text()).toContain("number 1");
      expect(response.headers.get("cache-control")).toBe("public, s-maxage=60");
      expect(response.headers.get("etag")).toMatch(/^W\/"[\w-]{22}"$/);
      expect(response.headers.get("content-security-policy")).toContain("default-src");
      expect(response.headers.get("set-cookie")).toBeNull();
    }
    expect(responses[0]?.headers.get("x-request-id")).not.toBe(responses[1]?.headers.get("x-request-id"));
    expect(responses[0]?.headers.get("traceparent")).not.toBe(responses[1]?.headers.get("traceparent"));
  });

  it("answer 304 to a client that has them, and HEAD without a body", async () => {
    const { app, count } = await createCachedApp(() => shown("news"));
    const first = await getPage(app, "/news");
    const etag = first.headers.get("etag") ?? "";
    const second = await getPage(app, "/news", { headers: { "if-none-match": `"other", ${etag}` } });
    expect([second.status, await second.text(), second.headers.get("etag")]).toEqual([304, "", etag]);
    const head = await getPage(app, "/news", { method: "HEAD" });
    expect([head.status, await head.text(), head.headers.get("etag")]).toEqual([200, "", etag]);
    expect(head.headers.get("content-length")).toBe(String((await first.text()).length));
    expect(count.renderings).toBe(1);
  });

  it("are compressed in each coding, and not below 1 KiB", async () => {
    const { app } = await createCachedApp(() => shown("news ".repeat(1000)));
    for (const coding of ["br", "gzip"]) {
      const headers = { "accept-encoding": coding, cookie: "a=b", "sec-fetch-site": "cross-site" };
      const response = await getPage(app, "/news", { headers });
      expect(response.headers.get("content-encoding")).toBe(coding);
      expect(response.headers.get("vary")).toBe("Accept-Encoding");
      expect((await response.arrayBuffer()).byteLength).toBeLessThan(600);
    }
    const small = await createCachedApp(() => shown("news"));
    const response = await getPage(small.app, "/news", { headers: { "accept-encoding": "br" } });
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
  });

  it("depend on the named query parameters only, in any order", async () => {
    const render = () => shown(`${request.query.sort}/${request.query.page}/${request.path}`);
    const { app, count } = await createCachedApp(render, { cache: { seconds: 60, query: ["sort", "page"] } });
    expect(await (await getPage(app, "/news?sort=a&page=2")).text()).toContain("a/2//news");
    expect(await (await getPage(app, "/news?x=1&page=2&sort=b&sort=a")).text()).toContain("a/2//news");
    expect(count.renderings).toBe(1);
    expect(await (await getPage(app, "/news?sort=")).text()).toContain("/undefined/");
    expect(await (await getPage(app, "/news?sort=a%262")).text()).toContain("a&amp;2/undefined/");
    expect(count.renderings).toBe(3);
  });

  it("are kept for each origin, as the settings of the application have it [CACHE-4]", async () => {
    const { app, count } = await createCachedApp(() => shown("news"));
    const get = (target: typeof app, host: string) => target.fetch(new Request(`http://${host}/news`));
    await get(app, "a.example");
    await get(app, "b.example");
    expect(count.renderings).toBe(2);
    const configured = await createCachedApp(() => shown("news"), undefined, {
      env: { WEB_ORIGIN: "http://a.example" },
    });
    await get(configured.app, "a.example");
    await get(configured.app, "evil.example");
    expect(configured.count.renderings).toBe(1);
  });

  it("are rendered once at a time, and a client that leaves does not end it for the others", async () => {
    let resolve: () => void = () => undefined;
    const promise = new Promise<void>((resolvePromise) => {
      resolve = resolvePromise;
    });
    const { app, count } = await createCachedApp(async () => {
      await promise;
      return shown(`aborted: ${request.signal.aborted}`);
    });
    const leaving = new AbortController();
    const responses = [getPage(app, "/news", { signal: leaving.signal }), getPage(app, "/news"), getPage(app, "/news")];
    leaving.abort();
    resolve();
    const texts = await Promise.all(responses.slice(1).map(async (response) => (await response).text()));
    expect(texts.every((text) => text.includes("aborted: false"))).toBe(true);
    expect(count.renderings).toBe(1);
    await responses[0];
  });

  it("are not kept with another status than 200, and each request gets the error with its own id", async () => {
    let failure: unknown = new Error("down");
    const { app, count, lines } = await createCachedApp(async () => {
      await new Promise(setImmediate);
      if (failure) throw failure;
      return shown("news");
    });
    const [one, two] = await Promise.all([getPage(app, "/news"), getPage(app, "/news")]);
    expect([one?.status, two?.status, count.renderings]).toEqual([500, 500, 1]);
    expect(one?.headers.get("cache-control")).toBe("private, no-store");
    expect(await two?.text()).toContain(two?.headers.get("x-request-id"));
    const ids = lines.filter(({ level }) => level === "error").map(({ fields }) => Reflect.get(fields, "id"));
    expect(ids).toEqual([one?.headers.get("x-request-id"), two?.headers.get("x-request-id")]);
    failure = new RPCError("not_found", "No news.");
    expect((await getPage(app, "/news")).status).toBe(404);
    failure = redirect("/touch");
    expect((await getPage(app, "/news")).headers.get("location")).toBe("/touch");
    failure = undefined;
    expect((await getPage(app, "/news")).status).toBe(200);
    expect(count.renderings).toBe(4);
  });

  it.each<[use: string, read: () => unknown]>([
    ["session.user()", () => session.user()],
    ["session.sid", () => session.sid],
    ["session.issued_at", () => session.issued_at],
    ["session.require()", () => session.require()],
    ["session.login()", () => session.login("u1")],
    ["session.logout()", () => session.logout()],
    ["request.cookies", () => request.cookies],
    ["request.headers", () => request.headers],
    ["request.address", () => request.address],
    ["request.id", () => request.id],
    ["request.prefetch", () => request.prefetch],
    ["request.set_cookie()", () => request.set_cookie("a", "b")],
    ["session.revoke()", () => session.revoke("u1")],
    ["publish()", () => publish("news", null)],
    ["publish()", () => void publish("news", null)],
    ["revalidate()", () => revalidate("/news")],
    ["channel()", () => channel("news")],
    ["presence()", () => presence("news", null, { anonymous: true })],
    ["request.query.page", () => request.query.page],
    ["request.query.page", () => "page" in request.query],
  ])("are rendered for each client if they use %s, with one warning [CACHE-2]", async (use, read) => {
    const { app, count, lines } = await createCachedApp(async () => {
      try {
        await read();
      } catch {
        // An error that the application catches has the same effect.
      }
      return shown("news");
    });
    for (let i = 0; i < 3; i++) {
      const response = await getPage(app, "/news");
      expect([response.status, response.headers.get("cache-control")]).toEqual([200, "private, no-store"]);
    }
    expect(count.renderings).toBe(4); // the first one was for all
    const [warning, ...others] = lines.filter(({ level }) => level === "warn");
    expect(others).toEqual([]);
    expect(warning?.message).toBe("The page /news is not cached");
    const { message } = Reflect.get(warning?.fields ?? {}, "err");
    expect(message).toContain(`The page /news (src/pages.server.tsx:1) is cached for all clients, and it`);
    expect(message).toContain(use);
  });

  it("show a client its own state if they or their layout use it, and never that of another one [CACHE-1]", async () => {
    const layout: PageOptions["layout"] = ({ children }) => h("main", null, session.user()?.sub ?? "nobody", children);
    const { app } = await createCachedApp(() => shown("news"), { cache: { seconds: 60 }, layout });
    const signedIn = createTestApp({ login: compiledServer("login", () => session.login("ada")) });
    const call = { method: "POST", headers: { "content-type": "application/json" }, body: '{"args":{}}' };
    const cookie = (await getPage(signedIn, "/__web/rpc/login", call)).headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(await (await getPage(app, "/news", { headers: { cookie } })).text()).toContain("ada");
    expect(await (await getPage(app, "/news")).text()).toContain("nobody");
  });

  it("run behind `before`, whose headers and cookies are those of each request and keep the page out of shared caches [CACHE-3]", async () => {
    const before: AppOptions["before"] = ({ set_header }) => {
      const { user } = request.query;
      if (user === "header") set_header("x-user", "ada");
      if (user === "cookie") request.set_cookie("user", "ada");
      if (user === "reads") void request.cookies.user;
      if (user === "id") void request.id;
      return user === "refused" ? redirect("/touch") : undefined;
    };
    const { app, count } = await createCachedApp(() => shown("news"), undefined, { before });
    const headersOf = async (user: string) => {
      const { headers } = await getPage(app, `/news?user=${user}`);
      return [headers.get("cache-control"), headers.get("x-user"), headers.get("set-cookie")?.split(";")[0] ?? null];
    };
    expect(await headersOf("header")).toEqual(["private, no-store", "ada", null]);
    expect(await headersOf("cookie")).toEqual(["private, no-store", null, "user=ada"]);
    expect(await headersOf("reads")).toEqual(["private, no-store", null, null]);
    expect(await headersOf("id")).toEqual(["public, s-maxage=60", null, null]);
    expect(await headersOf("none")).toEqual(["public, s-maxage=60", null, null]);
    expect((await getPage(app, "/news?user=refused")).status).toBe(303);
    expect(count.renderings).toBe(1);
  });

  it("have no CSRF token, which the first call gets, and no tag of a sign-in", async () => {
    const Counter = compiledView("Counter", () => h("button", null, "+"));
    const env = { WEB_CSRF_SECRET: "6b".repeat(32) };
    const { app, lines } = await createCachedApp(() => h(Counter, null), undefined, { env });
    const response = await getPage(app, "/news");
    expect(response.headers.get("cache-control")).toBe("public, s-maxage=60");
    expect(await response.text()).not.toContain("csrf-token");
    expect(lines).toEqual([]);
  });

  it("are rendered for each client if they have a form with a CSRF token [CACHE-5]", async () => {
    const save = compiledServer("save", () => null);
    const render = () => h("form", { action: save as unknown as string }, null);
    expect((await getPage((await createCachedApp(render)).app, "/news")).headers.get("cache-control")).toContain(
      "public",
    );
    const env = { WEB_CSRF_SECRET: "6b".repeat(32) };
    const { app, lines } = await createCachedApp(render, undefined, { env });
    const response = await getPage(app, "/news");
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(await response.text()).toContain("csrf");
    expect(lines).toHaveLength(1);
  });
});

describe("revalidate", () => {
  it("drops all variants of a page, in a request and outside, with and without the base", async () => {
    const { app, count } = await createCachedApp(() => shown("news"), { cache: { seconds: 60, query: ["sort"] } });
    const get = async () => {
      await getPage(app, "/news?sort=a");
      await getPage(app, "/news");
    };
    await get();
    await get();
    expect(count.renderings).toBe(2);
    expect((await getPage(app, "/touch")).status).toBe(200);
    await get();
    expect(count.renderings).toBe(4);
  });

  it("drops the page below the base, for the path with the base too", async () => {
    const { app, count } = await createCachedApp(() => shown("news"), undefined, { base: "/shop" });
    await getPage(app, "/shop/news");
    await getPage(app, "/shop/touch");
    await getPage(app, "/shop/news");
    expect(count.renderings).toBe(2);
  });

  it.each(["/nws", "/touch", "news", "//news", "https://a.example/news", "/"])("refuses the path %j", async (path) => {
    const news = compiledPage("/news", () => shown("news"), { cache: { seconds: 60 } });
    const touch = compiledPage("/touch", async () => {
      await expect(revalidate(path)).rejects.toThrow(TypeError);
      return shown("refused");
    });
    const app = createTestApp({ news, touch });
    expect(await (await getPage(app, "/touch")).text()).toContain("refused");
  });
});

describe("the option cache", () => {
  it.each([
    [{ seconds: 0 }, RangeError],
    [{ seconds: 1.5 }, RangeError],
    [{ seconds: 31_536_001 }, RangeError],
    [{}, RangeError],
    [{ seconds: 60, query: "sort" }, TypeError],
    [{ seconds: 60, query: [1] }, TypeError],
    [{ seconds: 60, query: [""] }, TypeError],
    [{ second: 60 }, TypeError],
    [60, TypeError],
    [null, TypeError],
  ])("is refused if it is %j", (cache, error) => {
    const options = { cache } as unknown as PageOptions;
    expect(() => compiledPage("/", () => shown("x"), options)).toThrow(error);
  });

  it.each([{ seconds: 1 }, { seconds: 31_536_000, query: ["sort"] }])("may be %j", (cache) => {
    expect(() => compiledPage("/", () => shown("x"), { cache })).not.toThrow();
  });
});

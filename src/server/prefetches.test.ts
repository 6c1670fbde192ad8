import { h } from "preact";
import { describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { requestContextOf } from "#test/request-context";
import { request } from "../http/index.ts";
import { publish } from "../live/index.ts";
import { Later } from "../pages/index.ts";
import { session } from "../session/index.ts";
import type { AppOptions } from "./app-options.ts";
import { revalidate } from "./cached-pages.ts";
import { Prefetches } from "./prefetches.ts";

const SHOWN_MS = 330_000;

describe("the clients that have prefetched pages", () => {
  function setUp({ hasOtherProcesses = false } = {}) {
    const clock = { ms: 0 };
    const prefetches = new Prefetches({ hasOtherProcesses: () => hasOtherProcesses, now: () => clock.ms });
    const client = (address = "192.0.2.1") =>
      requestContextOf(new Request("http://localhost/"), undefined, { address });
    return { clock, prefetches, client };
  }

  it("are all clients while pages of the process before this one may be shown", () => {
    const { clock, prefetches, client } = setUp();
    expect(prefetches.take(client())).toBe(true);
    clock.ms = SHOWN_MS - 1;
    expect(prefetches.take(client())).toBe(true);
    clock.ms = SHOWN_MS;
    expect(prefetches.take(client())).toBe(false);
  });

  it("are those that were served one, until no browser shows it, by address without a sign-in", () => {
    const { clock, prefetches, client } = setUp();
    clock.ms = SHOWN_MS;
    prefetches.served(client());
    expect(prefetches.take(client("192.0.2.2"))).toBe(false);
    expect(prefetches.take(client())).toBe(true);
    clock.ms = 2 * SHOWN_MS - 1;
    expect(prefetches.take(client())).toBe(true); // others may share the address
    clock.ms = 2 * SHOWN_MS;
    expect(prefetches.take(client())).toBe(false);
  });

  it("are those whose page is still being rendered", () => {
    const { clock, prefetches, client } = setUp();
    clock.ms = SHOWN_MS;
    const release = prefetches.acquire("192.0.2.1");
    expect(prefetches.take(client())).toBe(true);
    expect(prefetches.take(client("192.0.2.2"))).toBe(false);
    release?.();
    expect(prefetches.take(client())).toBe(false);
  });

  it("are all clients if other processes serve them too", () => {
    const { clock, prefetches, client } = setUp({ hasOtherProcesses: true });
    clock.ms = 10 * SHOWN_MS;
    expect(prefetches.take(client())).toBe(true);
    prefetches.served(client());
    expect(prefetches.size).toBe(0);
  });

  it("are at most 10,000: after that, all clients may be one of those that were forgotten [PREFETCH-6]", () => {
    const { clock, prefetches, client } = setUp();
    clock.ms = SHOWN_MS;
    const addressOf = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
    for (let index = 0; index < 10_000; index++) prefetches.served(client(addressOf(index)));
    expect(prefetches.take(client("192.0.2.1"))).toBe(false);
    prefetches.served(client(addressOf(10_000)));
    expect(prefetches.size).toBe(10_000);
    expect(prefetches.take(client("192.0.2.1"))).toBe(true);
    clock.ms = 2 * SHOWN_MS;
    expect(prefetches.take(client("192.0.2.1"))).toBe(false);
  });

  it("may request 16 pages at once", () => {
    const { prefetches } = setUp();
    const releases = Array.from({ length: 16 }, () => prefetches.acquire("192.0.2.1"));
    expect(releases.every(Boolean)).toBe(true);
    expect(prefetches.acquire("192.0.2.1")).toBeNull();
    expect(prefetches.acquire("192.0.2.2")).not.toBeNull();
    releases[0]?.();
    expect(prefetches.acquire("192.0.2.1")).not.toBeNull();
  });
});

describe("a prefetch", () => {
  const effects: Record<string, () => unknown> = {
    "request.set_cookie": () => request.set_cookie("seen", "1"),
    "session.login": () => session.login("ada"),
    "session.logout": () => session.logout(),
    revalidate: () => revalidate("/news"),
    "session.revoke": () => session.revoke("ada"),
    publish: () => publish("room", "seen"),
    "app.publish": () => app.publish("room", "seen"),
    "publish without await": () => void publish("room", "seen"),
    "an effect that is caught": async () => {
      await publish("room", "seen").catch(() => undefined);
      try {
        session.login("ada");
      } catch {}
    },
  };
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const run = (name: string) => effects[name]?.();
  let wait: Promise<void> | undefined;
  const module = {
    effect: compiledPage("/effects/:name", async ({ name }) => {
      await run(decodeURIComponent(name));
      return String(request.prefetch);
    }),
    route: compiledRoute("GET /routes/:name", async (_, { name }) => {
      if (name === "header") return new Response("ok", { headers: { "set-cookie": "a=1" } });
      await run(name);
      return new Response("ok");
    }),
    home: compiledPage("/", async () => {
      await wait;
      return String(request.prefetch);
    }),
    news: compiledPage("/news", () => "news", { cache: { seconds: 60 } }),
    change: compiledServer("change", () => 1),
    fails: compiledServer("fails", () => {
      throw new Error("failed");
    }),
    count: compiledServer(
      "count",
      function* () {
        yield 1;
      },
      { stream: true },
    ),
    enter: compiledServer("enter", () => session.login("ada")),
    hook: compiledRoute("POST /hook", () => new Response("ok")),
  };
  const create = (options: Partial<AppOptions> = {}) => createTestApp(module, { log, ...options });
  const app = create();
  const get = (path: string, purpose: string | null = "prefetch", to = app) =>
    to.fetch(
      new Request(`http://shop.example${path}`, { headers: purpose === null ? {} : { "sec-purpose": purpose } }),
      {
        address: "192.0.2.1",
      },
    );
  const post = (path: string, headers: Record<string, string> = {}, to = app) =>
    to.fetch(
      new Request(`http://shop.example${path}`, {
        method: "POST",
        body: '{"args":{}}',
        headers: { "content-type": "application/json", "sec-fetch-mode": "cors", ...headers },
      }),
      { address: "192.0.2.1" },
    );

  it.each([
    ["prefetch", "true"],
    ["prefetch;prerender", "true"],
    ["prefetch;anonymous-client-ip", "true"],
    ["prefetcher", "false"],
    ["", "false"],
    [null, "false"],
  ])("is a request with Sec-Purpose: %s: %s", async (purpose, expected) => {
    expect(await (await get("/", purpose)).text()).toContain(`<body>${expected}`);
  });

  it.each(Object.keys(effects))(
    "is answered with 503 if its page has the effect %s, and the effect does not happen [PREFETCH-1]",
    async (name) => {
      const response = await get(`/effects/${encodeURIComponent(name)}`);
      expect(response.status).toBe(503);
      expect(response.headers.getSetCookie()).toEqual([]);
      expect(response.headers.get("cache-control")).toBe("private, no-store");
      expect(log.error).not.toHaveBeenCalled();
      expect((await get(`/effects/${encodeURIComponent(name)}`, null)).status).toBe(200);
    },
  );

  it.each(["header", "session.login", "publish"])(
    "is answered with 503 by a route with the effect %s [PREFETCH-2]",
    async (name) => {
      const response = await get(`/routes/${name}`);
      expect([response.status, response.headers.getSetCookie()]).toEqual([503, []]);
      expect((await get(`/routes/${name}`, null)).status).toBe(200);
    },
  );

  it.each(["session.login", "publish"])(
    "is answered with 503 if `before` has the effect %s [PREFETCH-3]",
    async (name) => {
      const guarded = create({ before: async () => void (await run(name)) });
      const response = await get("/", "prefetch", guarded);
      expect([response.status, response.headers.getSetCookie()]).toEqual([503, []]);
      expect((await get("/", null, guarded)).status).toBe(200);
    },
  );

  it("requests its page again when it is shown, if a part of it has an effect", async () => {
    const published = vi.fn();
    const children = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await publish("room", "seen").then(published, () => undefined);
      return "part";
    };
    const home = compiledPage("/", () => h(Later, { fallback: "wait", children }));
    const parts = createTestApp({ home }, { log });
    const request = (headers: Record<string, string>) =>
      parts.fetch(new Request("http://shop.example/", { headers: { "sec-fetch-mode": "navigate", ...headers } }));
    const prefetched = await (await request({ "sec-purpose": "prefetch" })).text();
    expect(prefetched).toMatch(/<template for="[\w-]+"><meta http-equiv="refresh" content="0"><\/template>/);
    expect(prefetched).not.toContain(">part<");
    expect(published).not.toHaveBeenCalled();
    expect(await (await request({})).text()).toContain("part");
    expect(published).toHaveBeenCalledOnce();
    await parts.close();
  });

  it("with an ended session is answered with 503, so that the click removes the cookie and the pages kept for Back [PREFETCH-8]", async () => {
    const account = compiledPage("/", () => session.user()?.sub ?? "nobody");
    const end = compiledServer("end", () => session.revoke("ada"));
    const signedIn = createTestApp({ account, end, enter: module.enter }, { log });
    const [setCookie = ""] = (await post("/__web/rpc/enter", {}, signedIn)).headers.getSetCookie();
    const [cookie = ""] = setCookie.split(";");
    const show = (headers: Record<string, string>) =>
      signedIn.fetch(new Request("http://shop.example/", { headers: { cookie, ...headers } }));
    expect((await show({ "sec-purpose": "prefetch" })).status).toBe(200);
    await post("/__web/rpc/end", {}, signedIn);
    const prefetched = await show({ "sec-purpose": "prefetch" });
    expect([prefetched.status, prefetched.headers.getSetCookie()]).toEqual([503, []]);
    const clicked = await show({});
    expect(await clicked.text()).toContain("nobody");
    expect(clicked.headers.getSetCookie()).toContainEqual(
      expect.stringContaining(`${cookie.split("=")[0]}=; Max-Age=0`),
    );
    expect((await show({ "sec-purpose": "prefetch", cookie: "" })).status).toBe(200);
    await signedIn.close();
  });

  it("is answered with 429 if the client has 16 of them, and clicks are not [PREFETCH-5]", async () => {
    let release = () => {};
    wait = new Promise((resolve) => {
      release = resolve;
    });
    const pending = Array.from({ length: 16 }, () => get("/"));
    const response = await get("/");
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "1"]);
    const clicked = get("/", null);
    release();
    wait = undefined;
    expect((await clicked).status).toBe(200);
    for (const prefetched of await Promise.all(pending)) expect(prefetched.status).toBe(200);
    expect((await get("/")).status).toBe(200);
  });

  it("of a page that is sent in parts counts until its parts have ended, or the client has disconnected [PREFETCH-7]", async () => {
    let release = () => {};
    const partsWait = new Promise<void>((resolve) => {
      release = resolve;
    });
    const part = async () => {
      await partsWait;
      return "part";
    };
    const parts = createTestApp({ home: compiledPage("/", () => h(Later, { children: part })) });
    const prefetch = (signal?: AbortSignal) => {
      const headers = { "sec-fetch-mode": "navigate", "sec-purpose": "prefetch" };
      return parts.fetch(new Request("http://shop.example/", { headers, ...(signal && { signal }) }));
    };
    const leaving = new AbortController();
    const pending = [prefetch(leaving.signal), ...Array.from({ length: 15 }, () => prefetch())];
    const [first, ...others] = await Promise.all(pending);
    expect(first?.status).toBe(200);
    expect((await prefetch()).status).toBe(429);
    leaving.abort();
    others.push(await prefetch());
    expect((await prefetch()).status).toBe(429);
    release();
    for (const response of others) expect(await response.text()).toContain("part");
    expect((await prefetch()).status).toBe(200);
    await parts.close();
  });

  it("is cleared by calls, also those that fail, and by forms and other requests that are no GET", async () => {
    const cleared = async (path: string, headers = {}) => (await post(path, headers)).headers.get("clear-site-data");
    await get("/");
    expect(await cleared("/__web/rpc/change")).toBe('"prefetchCache"');
    expect(await cleared("/__web/rpc/fails")).toBe('"prefetchCache"');
    expect(await cleared("/hook")).toBe('"prefetchCache"');
    expect(await cleared("/?__form=change")).toContain("prefetchCache");
    expect(await cleared("/__web/rpc/enter")).toBe('"prefetchCache"');
    log.error.mockClear();
  });

  it("is not cleared by a stream, a GET, a program that is no browser, and an application without rules", async () => {
    await get("/");
    expect((await post("/__web/rpc/count")).headers.get("clear-site-data")).toBeNull();
    expect((await get("/", null)).headers.get("clear-site-data")).toBeNull();
    const program = await app.fetch(new Request("http://shop.example/hook", { method: "POST" }));
    expect(program.headers.get("clear-site-data")).toBeNull();
    const without = create({ prefetch: false });
    expect((await post("/__web/rpc/change", {}, without)).headers.get("clear-site-data")).toBeNull();
  });

  it("is marked in the access log", async () => {
    const lines: object[] = [];
    const logged = create({
      log: { ...log, info: (fields: object) => lines.push(fields) },
      env: { WEB_AUTH_SECRET: "5a".repeat(32), WEB_ACCESS_LOG: "1" },
    });
    await get("/", "prefetch", logged);
    await get("/", null, logged);
    expect(lines).toMatchObject([{ kind: "page", prefetch: true }, { kind: "page" }]);
    expect(lines[1]).not.toHaveProperty("prefetch");
  });
});

/** Redirects, returned and thrown, of every kind of handler. */
import { h } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledPage, compiledRoute, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import { signInCookie, testConfig } from "#test/request-context";
import type { App, AppOptions } from "../app.ts";
import { type Redirect, redirect, request } from "../http/index.ts";
import type { Layout } from "../pages/index.ts";
import { session } from "../session/index.ts";

const ENV = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_CSRF_SECRET: "6b".repeat(32) };

let logged: string[] = [];
beforeEach(() => {
  logged = [];
  vi.spyOn(console, "error").mockImplementation((...input) => void logged.push(input.map(String).join(" ")));
});
afterEach(() => {
  vi.restoreAllMocks();
});

const layoutOf =
  (work: () => Redirect): Layout =>
  () =>
    work();

const createApp = (module: Readonly<Record<string, unknown>>, options: Partial<AppOptions> = {}) =>
  createTestApp(module, { env: ENV, base: "/shop", ...options });

/** Sends a request to an application with a base, to a handler of this kind that runs `work`. */
type Send = (work: () => Redirect) => Promise<Response>;

const PAGES: Readonly<Record<string, Send>> = {
  page: (work) => getPage(createApp({ run: compiledPage("/run", work) }), "/shop/run"),
  "async page": (work) => getPage(createApp({ run: compiledPage("/run", async () => work()) }), "/shop/run"),
  layout: (work) =>
    getPage(createApp({ run: compiledPage("/run", () => "x") }, { layout: layoutOf(work) }), "/shop/run"),
  "async layout": (work) =>
    getPage(createApp({ run: compiledPage("/run", () => "x") }, { layout: async () => work() }), "/shop/run"),
  "layout of a page": (work) =>
    getPage(createApp({ run: compiledPage("/run", () => "x", { layout: layoutOf(work) }) }), "/shop/run"),
  "layout around the error page of an unknown path": (work) =>
    getPage(createApp({ run: compiledPage("/run", () => "x") }, { layout: layoutOf(work) }), "/shop/nowhere"),
  route: (work) =>
    getPage(createApp({ run: compiledRoute("POST /run", work) }), "/shop/run", { method: "POST", body: "x" }),
  "async route": (work) => getPage(createApp({ run: compiledRoute("GET /run", async () => work()) }), "/shop/run"),
  "server function that a page has called": (work) => {
    const save = compiledServer("save", work);
    const run = compiledPage("/run", async () => {
      await save();
      return "not shown";
    });
    return getPage(createApp({ run, save }), "/shop/run");
  },
  "before, for a page": (work) =>
    getPage(createApp({ run: compiledPage("/run", () => "x") }, { before: work }), "/shop/run"),
  "before, for a route": (work) =>
    getPage(createApp({ run: compiledRoute("GET /run", () => new Response()) }, { before: work }), "/shop/run"),
};

const call = (app: App, headers: Readonly<Record<string, string>> = {}) =>
  app.fetch(
    new Request("http://shop.example/shop/__web/rpc/run", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: '{"args":{}}',
    }),
  );

const ANY = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } } as const;
const FAIL = {
  "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [{ message: "No." }] }) },
} as const;

const CALLS: Readonly<Record<string, Send>> = {
  function: (work) => call(createApp({ run: compiledServer("run", work) })),
  "async function": (work) => call(createApp({ run: compiledServer("run", async () => work()) })),
  "function with schemas": (work) =>
    call(
      createApp({
        run: compiledServer("run", work, {
          params: { a: { type: "any", optional: true } },
          options: { validate: { a: ANY } },
        }),
      }),
    ),
  "function with a time limit": (work) =>
    call(createApp({ run: compiledServer("run", async () => work(), { options: { rpc_timeout: 5 } }) })),
  "function whose result has a schema": (work) =>
    call(createApp({ run: compiledServer("run", work, { options: { returns: FAIL } }) })),
  "server function that another one has called": (work) => {
    const save = compiledServer("save", work);
    const run = compiledServer("run", async () => {
      await save();
      return "not sent";
    });
    return call(createApp({ run, save }));
  },
  "stream that a function reads": (work) => {
    const read = compiledServer("read", generator(work), { stream: true });
    const run = compiledServer("run", async () => {
      for await (const _ of read());
      return "not sent";
    });
    return call(createApp({ run, read }));
  },
  "before, for a call": (work) => call(createApp({ run: compiledServer("run", () => 1) }, { before: work })),
};

/** Returns a generator function that ends with a redirect before its first value. */
function generator(work: () => Redirect) {
  return function* (): Generator<number, Redirect> {
    if (logged.length > 1000) yield 1; // never
    return work();
  };
}

async function* asyncGenerator(work: () => Redirect): AsyncGenerator<number, Redirect> {
  if (logged.length > 1000) yield 1; // never
  return work();
}

const STREAMS: Readonly<Record<string, Send>> = {
  stream: (work) => call(createApp({ run: compiledServer("run", generator(work), { stream: true }) })),
  "async stream": (work) =>
    call(createApp({ run: compiledServer("run", () => asyncGenerator(work), { stream: true }) })),
  "stream whose values have a schema": (work) =>
    call(createApp({ run: compiledServer("run", generator(work), { stream: true, options: { returns: FAIL } }) })),
};

const WAYS: readonly (readonly [string, (target: Redirect) => Redirect])[] = [
  ["returned", (target) => target],
  [
    "thrown",
    (target) => {
      throw target;
    },
  ],
];

/** Redirects after setting a cookie. */
const redirectTo =
  (way: (target: Redirect) => Redirect, path = "/account?a=b#c", external = false) =>
  () => {
    request.set_cookie("theme", "dark");
    return way(redirect(path, { external }));
  };

describe.each(WAYS)("a redirect that is %s", (_, way) => {
  it.each(Object.entries(PAGES))(
    "by a %s responds with 303 and the base, keeps cookies and logs nothing",
    async (_kind, send) => {
      const response = await send(redirectTo(way));
      expect([response.status, await response.text()]).toEqual([303, ""]);
      expect(response.headers.get("location")).toBe("/shop/account?a=b#c");
      expect(response.headers.get("cache-control")).toBe("private, no-store");
      expect(response.headers.get("set-cookie")).toContain("theme=dark");
      expect(logged).toEqual([]);
      const external = await send(redirectTo(way, "https://id.example/x", true));
      expect([external.status, external.headers.get("location")]).toEqual([303, "https://id.example/x"]);
    },
  );

  it.each(Object.entries(CALLS))(
    "by a %s responds with null and X-Redirect, and keeps cookies",
    async (_kind, send) => {
      const response = await send(redirectTo(way));
      expect([response.status, await response.text()]).toEqual([200, '{"result":null}']);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(response.headers.get("x-redirect")).toBe("/shop/account?a=b#c");
      expect(response.headers.get("location")).toBeNull();
      expect(response.headers.get("cache-control")).toBe("private, no-cache");
      expect(response.headers.get("set-cookie")).toContain("theme=dark");
      expect(logged).toEqual([]);
      const external = await send(redirectTo(way, "https://id.example/x", true));
      expect([external.status, external.headers.get("x-redirect")]).toEqual([200, "https://id.example/x"]);
    },
  );

  it.each(Object.entries(STREAMS))(
    "by a %s before its first value ends the stream, with X-Redirect",
    async (_kind, send) => {
      const response = await send(redirectTo(way));
      expect([response.status, await response.text()]).toEqual([200, '{"done":true}\n']);
      expect(response.headers.get("x-redirect")).toBe("/shop/account?a=b#c");
      expect(response.headers.get("set-cookie")).toContain("theme=dark");
      expect(logged).toEqual([]);
    },
  );

  it("by a stream after its first value is an error whose log line contains the fix", async () => {
    const run = compiledServer(
      "run",
      function* () {
        yield 1;
        return way(redirect("/account"));
      },
      { stream: true },
    );
    const response = await call(createApp({ run }));
    const lines = (await response.text()).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ chunk: 1 }, { error: { code: "internal" } }]);
    expect(response.headers.get("x-redirect")).toBeNull();
    expect(logged.join()).toMatch(/run redirected to "\/account" after its first value.* before the first yield/s);
  });

  it("after a sign-in carries the session and a fresh CSRF token", async () => {
    const run = compiledServer("run", () => {
      session.login("ada");
      return way(redirect("/account"));
    });
    const { headers } = await call(createApp({ run }));
    expect(headers.get("x-redirect")).toBe("/shop/account");
    expect(headers.get("set-cookie")).toContain("session=");
    expect(headers.get("x-csrf-token")).toMatch(/^[\w-]{64}$/);
  });

  it("after a sign-out removes the session", async () => {
    const run = compiledServer("run", () => {
      session.logout();
      return way(redirect("/"));
    });
    const { headers } = await call(createApp({ run }), { cookie: signInCookie("ada", {}, testConfig(ENV)) });
    expect(headers.get("set-cookie")).toContain("Max-Age=0");
  });
});

describe("a redirect that a component throws", () => {
  it("redirects the page", async () => {
    const Gate = (): null => {
      throw redirect("/account");
    };
    const response = await getPage(createApp({ run: compiledPage("/run", () => h(Gate, {})) }), "/shop/run");
    expect([response.status, response.headers.get("location")]).toEqual([303, "/shop/account"]);
  });
});

describe("a redirect after the time limit of a call", () => {
  it("is dropped: the response is 504 without X-Redirect", async () => {
    const run = compiledServer(
      "run",
      async () => {
        await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
        return redirect("/account");
      },
      { options: { rpc_timeout: 0.02 } },
    );
    const response = await call(createApp({ run }));
    expect([response.status, response.headers.get("x-redirect")]).toEqual([504, null]);
  });
});

describe("a redirect inside a value", () => {
  it.each([
    ["a member of a result", async () => ({ next: redirect("/account") })],
    ["an item of a result", () => [redirect("/account")]],
  ])("is an error whose log line contains the fix, and sends nothing: %s", async (_, fn) => {
    const response = await callOverHttp(createTestApp({ save: compiledServer<[], unknown>("save", fn) }), "save");
    expect([response.status, await response.json()]).toMatchObject([500, { error: { code: "internal" } }]);
    expect(response.headers.get("x-redirect")).toBeNull();
    expect(logged.join()).toMatch(
      /redirect\("\/account"\) is inside a value.* whole result of the function, or throw it/,
    );
  });
});

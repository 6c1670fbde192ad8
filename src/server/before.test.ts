import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { signInCookie } from "#test/request-context";
import type { App, AppOptions } from "../app.ts";
import { RPCError } from "../errors.ts";
import { once, redirect, request } from "../http/index.ts";
import { NotFound } from "../pages/index.ts";
import { session } from "../session/index.ts";
import { type Before, type BeforeInput, decodePath } from "./before.ts";

let logged: string[] = [];
beforeEach(() => {
  logged = [];
  vi.spyOn(console, "error").mockImplementation((...input) => void logged.push(input.map(String).join(" ")));
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** How often a handler of the application has run. */
let runs = 0;
const count = () => {
  runs++;
  return "ran";
};
beforeEach(() => {
  runs = 0;
});

const MODULE = {
  home: compiledPage("/home", count),
  item: compiledPage("/items/:id", count),
  hook: compiledRoute("POST /hook", () => new Response(count())),
  file: compiledRoute("GET /file", () => new Response(count(), { headers: { "x-tenant": "of the route" } })),
  run: compiledServer("run", count),
  stream: compiledServer(
    "stream",
    function* () {
      yield count();
    },
    { stream: true },
  ),
};

const createApp = (before: Before, options: Partial<AppOptions> = {}) => createTestApp(MODULE, { before, ...options });

const send = (app: App, path: string, init: RequestInit = {}) =>
  app.fetch(new Request(`http://shop.example${path}`, init), { address: "192.0.2.7" });

const CALL = { method: "POST", headers: { "content-type": "application/json" }, body: '{"args":{}}' };

/** A request of each kind, with the status that it has without `before`. */
const KINDS: Readonly<Record<string, readonly [path: string, init: RequestInit, status: number]>> = {
  "a page": ["/home", {}, 200],
  "HEAD of a page": ["/home", { method: "HEAD" }, 200],
  "a path with a slash at its end": ["/home/", {}, 308],
  "an unknown path": ["/nowhere", {}, 404],
  "a page with another method": ["/home", { method: "PUT" }, 405],
  "a form without script": ["/home?__form=run", { method: "POST", body: new FormData() }, 0],
  "a route": ["/hook", { method: "POST", body: "x" }, 200],
  "a call": ["/__web/rpc/run", CALL, 200],
  "a stream": ["/__web/rpc/stream", CALL, 200],
  "an unknown function": ["/__web/rpc/nothing", CALL, 404],
  "a call from another site": [
    "/__web/rpc/run",
    { ...CALL, headers: { ...CALL.headers, origin: "https://evil.example" } },
    403,
  ],
  "a form with script": ["/__web/form/run", { method: "POST", body: new FormData() }, 0],
  "an event stream": ["/__web/live", {}, 400],
  "a poll": ["/__web/poll", {}, 400],
};

describe.each(Object.entries(KINDS))("before, for %s", (_, [path, init, status]) => {
  it("runs once, and lets the request pass if it returns nothing", async () => {
    for (const nothing of [undefined, null]) {
      const before = vi.fn(async () => nothing);
      const response = await send(createApp(before), path, init);
      if (status !== 0) expect(response.status).toBe(status);
      expect(response.status).not.toBe(500);
      expect(before).toHaveBeenCalledTimes(1);
    }
  });

  it("responds in its place, and nothing else runs [REQUEST-87]", async () => {
    const before = () => new Response("Closed for maintenance", { status: 503, headers: { "retry-after": "60" } });
    for (const each of [before, async () => before()]) {
      const response = await send(createApp(each), path, init);
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "60"]);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("cache-control")).toBe("private, no-store");
      expect(await response.text()).toBe(init.method === "HEAD" ? "" : "Closed for maintenance");
      expect(response.headers.get("connection")).toBe(/POST|PUT/.test(init.method ?? "") ? "close" : null);
    }
    expect(runs).toBe(0);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("the ban list is unreachable"))],
    ["throws a TypeError", () => Promise.reject(new TypeError("the ban list is unreachable"))],
    [
      "throws synchronously",
      () => {
        throw new Error("the ban list is unreachable");
      },
    ],
    ["throws no error", () => Promise.reject("the ban list is unreachable")],
    ["returns true", () => true],
    ["returns false", async () => false],
    ["returns an object", () => ({ status: 403 })],
  ])("fails closed if it %s: 500, logged, without its reason [REQUEST-88]", async (_case, before) => {
    const response = await send(createApp(before as unknown as Before), path, init);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("ban list");
    expect(logged.join()).toMatch(/`before` of new App failed|error page/);
    expect(logged.join()).toMatch(/the ban list is unreachable|Return a Response or a redirect/);
    expect(runs).toBe(0);
  });
});

const SCRIPTS = Object.entries(KINDS).filter(([, [path]]) => path.startsWith("/__web/"));
const BROWSERS = Object.entries(KINDS).filter(([kind, [path]]) => !path.startsWith("/__web/") && kind !== "a route");

describe("before that throws an RPCError", () => {
  const before = () => {
    throw new RPCError("forbidden", "You are banned.", { until: "tomorrow" });
  };

  it.each([...SCRIPTS, ["a route", KINDS["a route"]] as const])(
    "has its status and error body for %s",
    async (_, kind) => {
      const [path, init] = kind as (typeof KINDS)[string];
      const response = await send(createApp(before), path, init);
      expect(response.status).toBe(403);
      const error = { code: "forbidden", message: "You are banned.", details: { until: "tomorrow" } };
      expect(await response.json()).toEqual({ error });
      expect([logged, runs]).toEqual([[], 0]);
    },
  );

  it.each(BROWSERS)("has its status and the error page for %s", async (_, [path, init]) => {
    const response = await send(createApp(before), path, init);
    expect(response.status).toBe(403);
    if (init.method !== "HEAD") expect(await response.text()).toContain("<p>You are banned.</p>");
    expect([logged, runs]).toEqual([[], 0]);
  });

  it("has 404 for NotFound, and redirects to the sign-in page for unauthenticated", async () => {
    const missing = () => {
      throw new NotFound();
    };
    expect((await send(createApp(missing), "/home")).status).toBe(404);
    const app = createApp(({ path }) => void (path !== "/items/1" && session.require()), { sign_in: "/items/1" });
    expect((await send(app, "/home")).headers.get("location")).toBe("/items/1?next=%2Fhome");
    expect((await send(app, "/items/1")).status).toBe(200);
    expect((await send(app, "/home", { headers: { cookie: signInCookie("ada") } })).status).toBe(200);
  });
});

describe("before that redirects", () => {
  it("makes the page of a live request reload: the status is 403", async () => {
    for (const path of ["/__web/live", "/__web/poll"]) {
      const response = await send(
        createApp(() => redirect("/closed")),
        path,
      );
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: { code: "forbidden" } });
    }
  });

  it("opens the path in the browser for a form that a script sends", async () => {
    const init = { method: "POST", body: new FormData() };
    const { status, headers } = await send(
      createApp(() => redirect("/closed")),
      "/__web/form/run",
      init,
    );
    expect([status, headers.get("x-redirect")]).toEqual([200, "/closed"]);
  });
});

describe("before", () => {
  it("does not run for health checks, unless the application has a page there", async () => {
    const before = vi.fn(() => new Response(null, { status: 503 }));
    const app = createApp(before);
    for (const path of ["/healthz", "/readyz"]) expect((await send(app, path)).status).toBe(200);
    expect(before).not.toHaveBeenCalled();
    const own = createTestApp({ health: compiledPage("/healthz", count) }, { before });
    expect((await send(own, "/healthz")).status).toBe(503);
  });

  it("does not run for an invalid path, which has no decoded form", async () => {
    const before = vi.fn();
    const app = createApp(before);
    for (const path of ["/a%2f..%2fb", "/a//b", "/__web/rpc/%72un", "/%68ome%00"])
      expect((await send(app, path)).status).toBe(400);
    for (const method of ["POST", "PUT", "DELETE"]) expect((await send(app, "/%68ome", { method })).status).toBe(400);
    expect(before).not.toHaveBeenCalled();
    expect(runs).toBe(0);
  });

  it("does not run for the redirect to the canonical path, and receives that path when it is requested", async () => {
    const before = vi.fn<Before>(({ path }) => (path === "/home" ? new Response(null, { status: 403 }) : undefined));
    const app = createApp(before);
    for (const method of ["GET", "HEAD"]) {
      before.mockClear();
      const { status, headers } = await send(app, "/%68om%65?a=1", { method });
      expect([status, headers.get("location")]).toEqual([308, "/home?a=1"]);
      expect(before).not.toHaveBeenCalled();
      expect((await send(app, "/home?a=1", { method })).status).toBe(403);
      expect(before).toHaveBeenCalledTimes(1);
    }
    expect(runs).toBe(0);
  });

  it("runs before the size of a body is checked", async () => {
    const headers = { "content-length": "2000000" };
    const before = () => new Response("banned", { status: 403 });
    for (const path of ["/hook", "/__web/rpc/run"])
      expect((await send(createApp(before), path, { method: "POST", headers, body: "x" })).status).toBe(403);
  });

  it("receives the decoded path below the base, and the address of the client in request.address [REQUEST-90]", async () => {
    const seen: unknown[] = [];
    const app = createApp(({ path }) => void seen.push([path, request.address, request.method, request.query.a]), {
      base: "/shop",
    });
    for (const path of [
      "/shop",
      "/shop/caf%C3%A9%20%3C/x?a=1",
      "/shop/items/a%2Fb%2fc",
      "/shop/__web/rpc/x",
      "/other%20",
    ])
      await send(app, path);
    expect(seen).toEqual([
      ["/", "192.0.2.7", "GET", undefined],
      ["/café </x", "192.0.2.7", "GET", "1"],
      ["/items/a%2Fb%2Fc", "192.0.2.7", "GET", undefined],
      ["/__web/rpc/x", "192.0.2.7", "GET", undefined],
      ["/other ", "192.0.2.7", "GET", undefined],
    ]);
  });

  it("sees the client address that trusted proxies pass, and not one that the client claims [REQUEST-91]", async () => {
    const addresses: string[] = [];
    const note = () => void addresses.push(request.address);
    const headers = { "x-forwarded-for": "203.0.113.9, 198.51.100.1" };
    await send(createApp(note), "/home", { headers });
    const env = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_TRUST_PROXY: "1" };
    await send(createApp(note, { env }), "/home", { headers });
    expect(addresses).toEqual(["192.0.2.7", "198.51.100.1"]);
  });

  it("shares once() with the page, can set cookies, and its cookies are kept", async () => {
    let loads = 0;
    const tenant = once(() => ++loads);
    const app = createTestApp(
      { home: compiledPage("/home", () => String(tenant())) },
      {
        before() {
          request.set_cookie("tenant", String(tenant()));
        },
      },
    );
    const response = await send(app, "/home");
    expect(await response.text()).toContain("<body>1</body>");
    expect(response.headers.get("set-cookie")).toContain("tenant=1");
  });
});

describe("set_header in before", () => {
  const set =
    (...entries: [string, string | null][]): Before =>
    ({ set_header }: BeforeInput) => {
      for (const [name, value] of entries) set_header(name, value);
    };

  it.each(Object.entries(KINDS))("sets a header of the response for %s", async (_, [path, init]) => {
    const { headers } = await send(createApp(set(["X-Tenant", "a"], ["x-tenant", "b"])), path, init);
    expect(headers.get("x-tenant")).toBe("b");
  });

  it("replaces and removes security headers, also those of the options, and keeps a header of the route", async () => {
    const before = set(["x-frame-options", "DENY"], ["Referrer-Policy", null], ["x-tenant", "before"], ["x-app", "b"]);
    const options = { headers: { "x-app": "a", "x-other": "a" } };
    for (const path of ["/home", "/file"]) {
      const { headers } = await send(createApp(before, options), path);
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBeNull();
      expect([headers.get("x-app"), headers.get("x-other")]).toEqual(["b", "a"]);
      expect(headers.get("x-tenant")).toBe(path === "/home" ? "before" : "of the route");
    }
  });

  it("is kept when the request fails", async () => {
    const broken = compiledPage("/broken", () => {
      throw new Error("broken");
    });
    const { status, headers } = await send(createTestApp({ broken }, { before: set(["x-tenant", "a"]) }), "/broken");
    expect([status, headers.get("x-tenant")]).toEqual([500, "a"]);
  });

  it.each<[string, string | null]>([
    ["set-cookie", "a=b"],
    ["Content-Length", "1"],
    ["x-request-id", "1"],
    ["X-Redirect", "https://evil.example"],
    ["x-a", "b\r\nset-cookie: a=b"],
    ["x a", "b"],
    ["x-a", ""],
  ])("refuses %s: %j, and the request does not pass", async (name, value) => {
    const response = await send(createApp(set([name, value])), "/home");
    expect([response.status, runs]).toEqual([500, 0]);
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(logged.join()).toContain("set_header()");
  });
});

describe("decodePath", () => {
  it("keeps the number of segments, and is the identity for a path without percent-encoding", () => {
    expect(["/", "/a/b", "/%C3%A9%20", "/a%2fb%2F", "/100%25/%252F", "/%25252f"].map(decodePath)).toEqual([
      "/",
      "/a/b",
      "/é ",
      "/a%2Fb%2F",
      "/100%/%252F",
      "/%25252f",
    ]);
  });

  it("returns different texts for paths that the router treats as different", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("%25", "%2F", "2", "5", "F", "f", "a"), { maxLength: 8 }), (parts) => {
        const [path, otherPath] = [`/x${parts.join("")}`, `/x${parts.join("").replace("%25", "%2525")}`];
        expect(decodePath(path) === decodePath(otherPath)).toBe(path === otherPath);
        expect(decodePath(path).split("/")).toHaveLength(2);
      }),
    );
  });
});

describe("the option before", () => {
  it.each([
    (_req: unknown, _res: unknown, next: () => void) => next(),
    async (_req: unknown, res: { end(): void }) => res.end(),
    async (_context: unknown, next: () => Promise<void>) => await next(),
    function logger(_req: unknown, res: unknown, next: () => void) {
      return res ? next() : undefined;
    },
  ])("rejects a middleware of another framework: %s", (middleware) => {
    const options = { before: middleware as unknown as Before }; // TypeScript rejects it
    expect(() => createTestApp(MODULE, options)).toThrow(
      /^new App: before has the parameters \((?:_?req|_context), .*\) of a middleware\. It receives one object, \{ path, set_header \}, and no response: return a Response or redirect\("\/…"\)/,
    );
  });

  it.each<Before>([
    ({ path }, isStrict = true) => (isStrict && path === "/x" ? redirect("/") : undefined),
    (...inputs: unknown[]) => void inputs,
    (input: BeforeInput, tenant?: string) => (input.path === tenant ? redirect("/") : undefined),
  ])("accepts a function with further parameters of its own: %s", (before) => {
    expect(createTestApp(MODULE, { before })).toBeDefined();
  });

  it.each([null, "/maintenance", true, {}])("is refused when the application starts if it is %j", (before) => {
    expect(() => createApp(before as unknown as Before)).toThrow(/new App: before must be a function\. It is /);
  });
});

import fc from "fast-check";
import { h } from "preact";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { appOf, call, compiledPage, compiledServer, get } from "#test/compiled";
import type { App } from "./app.ts";
import { request } from "./http/index.ts";
import { NotFound, redirect } from "./pages/index.ts";
import { session } from "./session/index.ts";

let log: MockInstance<typeof console.error>;
beforeEach(() => {
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

const shown = (value: unknown) => h("pre", null, JSON.stringify(value));

const module = {
  home: compiledPage("/", () => h("p", null, "home")),
  user: compiledPage("/users/:id", ({ id }) => shown({ id })),
  docs: compiledPage("/docs/**:rest", ({ rest }) => shown({ rest })),
  away: compiledPage("/away", () => redirect("/users/1")),
  gone: compiledPage("/gone", () => {
    throw new NotFound();
  }),
  broken: compiledPage("/broken", () => {
    throw new Error("broken");
  }),
  about: compiledPage("/about", () => {
    request.set_cookie("seen", "1");
    return shown({ path: request.path, method: request.method, query: request.query });
  }),
  add: compiledServer("add", (a: number) => a + 1, { params: { a: "int" } }),
  ticks: compiledServer(
    "ticks",
    function* () {
      yield 1;
    },
    { stream: true },
  ),
  secret: compiledServer("secret", () => 1, { options: { auth_required: true } }),
};
const app = appOf(module, { rate: false });

/** What a page shows of what it was given. */
async function shownBy(response: Response): Promise<unknown> {
  const text = /<pre>(.*?)<\/pre>/s.exec(await response.text())?.[1] ?? "";
  return JSON.parse(text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&"));
}

const json = { "content-type": "application/json" };
const KINDS: readonly (readonly [string, number, (headers: Record<string, string>) => Promise<Response>])[] = [
  ["a page", 200, (headers) => get(app, "/", { headers })],
  ["a page's head", 200, (headers) => get(app, "/", { headers, method: "HEAD" })],
  ["a redirect", 303, (headers) => get(app, "/away", { headers })],
  ["a page's other address", 308, (headers) => get(app, "/about/", { headers })],
  ["no page", 404, (headers) => get(app, "/nothing", { headers })],
  ["a page's not found", 404, (headers) => get(app, "/gone", { headers })],
  ["a page that fails", 500, (headers) => get(app, "/broken", { headers })],
  ["another method", 405, (headers) => get(app, "/", { headers, method: "POST" })],
  ["a path that cannot be read", 400, (headers) => get(app, "/a%00", { headers })],
  ["a body too large", 413, (headers) => get(app, "/", { headers: { ...headers, "content-length": "1048577" } })],
  ["health", 200, (headers) => get(app, "/healthz", { headers })],
  ["a call", 200, (headers) => call(app, "add", { a: 1 }, { headers })],
  ["a stream", 200, (headers) => call(app, "ticks", {}, { headers })],
  ["a call's other method", 405, (headers) => get(app, "/__web/rpc/add", { headers })],
  ["a call's other type", 415, (headers) => call(app, "add", {}, { headers: { ...headers, "content-type": "a/b" } })],
  ["a foreign call", 403, (headers) => call(app, "add", {}, { headers: { ...headers, origin: "null" } })],
  ["no function", 404, (headers) => call(app, "nothing", {}, { headers })],
  ["a signed-out call", 401, (headers) => call(app, "secret", {}, { headers })],
  ["a call's bad arguments", 422, (headers) => call(app, "add", {}, { headers })],
  [
    "a call's body too large",
    413,
    (headers) => call(app, "add", {}, { headers: { ...headers, "content-length": "1048577" } }),
  ],
];

describe("every answer", () => {
  it.each(KINDS)("(%s: %i) carries the ids of its request and the security headers", async (_, status, ask) => {
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const response = await ask({ "x-request-id": "ours-1", traceparent: `00-${trace}-00f067aa0ba902b7-01` });
    expect(response.status).toBe(status);
    const { headers } = response;
    expect(headers.get("x-request-id")).toBe("ours-1");
    expect(headers.get("traceparent")).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'self'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; object-src 'none'; " +
        "base-uri 'none'; form-action 'self'; frame-ancestors 'self'; img-src 'self' data: https:",
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("SAMEORIGIN");
    expect(headers.get("referrer-policy")).toBe("strict-origin-when-cross-origin");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.has("strict-transport-security")).toBe(false);
    if (status !== 308) expect(headers.get("cache-control")).toBe("private, no-store");
    await response.body?.cancel();
  });

  it.each(KINDS)("(%s: %i) has new ids where the request's are no ids", async (_, __, ask) => {
    const { headers, body } = await ask({ "x-request-id": "<script>", traceparent: "00-0-0-00" });
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(headers.get("traceparent")).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    await body?.cancel();
  });

  it("asks for https once cookies are secure", async () => {
    const secure = appOf(module, { env: { WEB_AUTH_SECRET: "5a".repeat(32), WEB_COOKIE_SECURE: "1" } });
    expect((await get(secure, "/")).headers.get("strict-transport-security")).toBe("max-age=31536000");
  });
});

describe("pages", () => {
  it("get what their path holds, decoded", async () => {
    expect(await shownBy(await get(app, "/users/a%20b%2Fc"))).toEqual({ id: "a b/c" });
    expect(await shownBy(await get(app, "/docs/a/b%20c"))).toEqual({ rest: "a/b c" });
  });

  it("know their request", async () => {
    const response = await get(app, "/about?a=1&a=2&b=%3Cx%3E&__proto__=p");
    expect(response.headers.get("set-cookie")).toBe("seen=1; Path=/; HttpOnly; SameSite=Lax");
    expect(await shownBy(response)).toEqual(
      JSON.parse('{"path":"/about","method":"GET","query":{"a":"2","b":"<x>","__proto__":"p"}}'),
    );
  });

  it("answer HEAD as GET without the body, and other methods with 405", async () => {
    const head = await get(app, "/about", { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(head.headers.get("set-cookie")).toBe("seen=1; Path=/; HttpOnly; SameSite=Lax");
    expect(await head.text()).toBe("");
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const response = await get(app, "/about", { method });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("GET, HEAD");
    }
  });

  it("have one address: another with a slash at its end leads to it", async () => {
    for (const [asked, location] of [
      ["/about/", "/about"],
      ["/about/?a=b", "/about?a=b"],
      ["/users/1/", "/users/1"],
    ] as const) {
      const response = await get(app, asked);
      expect([response.status, response.headers.get("location")]).toEqual([308, location]);
    }
    expect((await get(app, "/")).status).toBe(200);
    expect((await get(app, "/nothing/")).status).toBe(404);
  });

  it("are below the application's base, and nothing else is", async () => {
    const based = appOf(module, { base: "/shop" });
    const statusOf = async (path: string) => (await get(based, path)).status;
    expect(await Promise.all(["/shop", "/shop/about", "/shop/users/1"].map(statusOf))).toEqual([200, 200, 200]);
    expect(await Promise.all(["/", "/about", "/shopping", "/shop2/about"].map(statusOf))).toEqual([404, 404, 404, 404]);
    expect((await get(based, "/shop/away")).headers.get("location")).toBe("/shop/users/1");
    expect((await get(based, "/shop/about/")).headers.get("location")).toBe("/shop/about");
    expect((await call(based, "add", { a: 1 })).status).toBe(404);
    const own = new Request("http://shop.example/shop/__web/rpc/add", {
      method: "POST",
      headers: json,
      body: '{"args":{"a":1}}',
    });
    expect(await (await based.fetch(own)).json()).toEqual({ result: 2 });
  });
});

describe("paths that nobody means", () => {
  it.each([
    "/%",
    "/%zz",
    "/%c3",
    "/users/%00",
    "/users/%0d%0aSet-Cookie:a=b",
    "//",
    "//evil.example",
    "/docs//x",
    "/docs/..%2fx",
    "/docs/%5cx",
  ])("%s: 400", async (path) => {
    const response = await get(app, path);
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  it.each(["/docs/../../etc/passwd", "/docs/%2e%2e/%2e%2e/etc/passwd", "/docs/..\\..\\etc"])(
    "%s does not climb",
    async (path) => {
      expect((await get(app, path)).status).toBe(404);
    },
  );

  it("are never the server's fault, whatever they are", async () => {
    const piece = fc.constantFrom(
      "/",
      "//",
      "..",
      ".",
      "%",
      "%2e",
      "%2F",
      "%00",
      "%5C",
      "\\",
      "%c3%28",
      "é",
      "users",
      "docs",
      "__web",
      "rpc",
      "__proto__",
      ":",
      "*",
      "?",
      "#",
      " ",
      "\t",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 10 }),
        fc.constantFrom("GET", "HEAD", "POST"),
        async (path, method) => {
          const { status, headers } = await get(app, `/${path.join("")}`, { method });
          expect(status).toBeLessThan(500);
          const location = headers.get("location");
          if (location !== null) expect(new URL(location, "http://shop.example").host).toBe("shop.example");
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("200 requests at once", () => {
  /** Waits for its turn: all have begun before the first goes on, and they go on in another order. */
  function crossing(count: number): () => Promise<void> {
    const waiting: (() => void)[] = [];
    return () =>
      new Promise((go) => {
        waiting.push(go);
        if (waiting.length % count !== 0) return;
        for (const next of waiting.splice(0).reverse()) next();
      });
  }

  /** What is seen of a request at one moment. */
  const seen = () => [request.id, request.cookies.who, session.user()?.sub ?? null];

  function crossingApp(count: number): App {
    const cross = crossing(count);
    const work = async () => {
      const moments = [seen()];
      await cross();
      moments.push(seen());
      session.login(`user-${request.id}`);
      request.set_cookie("mine", request.id);
      await cross();
      await new Promise((later) => setImmediate(later));
      moments.push(seen());
      return moments;
    };
    const module = {
      page: compiledPage("/", async () => shown(await work())),
      call: compiledServer("call", work),
      stream: compiledServer(
        "stream",
        async function* () {
          for (const moment of await work()) {
            yield moment;
            await cross();
          }
          yield seen();
        },
        { stream: true },
      ),
    };
    return appOf(module, { rate: false, env: { WEB_MAX_STREAMS_PER_CLIENT: String(count) } });
  }

  const asks = {
    page: async (app: App, headers: Record<string, string>) => {
      const response = await get(app, "/", { headers });
      return { response, moments: (await shownBy(response.clone())) as unknown[] };
    },
    call: async (app: App, headers: Record<string, string>) => {
      const response = await call(app, "call", {}, { headers });
      return { response, moments: (await response.clone().json()).result as unknown[] };
    },
    stream: async (app: App, headers: Record<string, string>) => {
      const response = await call(app, "stream", {}, { headers });
      const lines = (await response.clone().text()).trimEnd().split("\n");
      return { response, moments: lines.slice(0, -1).map((line) => JSON.parse(line).chunk as unknown) };
    },
  };

  it.each(["page", "call", "stream"] as const)("never mix their ids, sessions and cookies (%s)", async (kind) => {
    const crossed = crossingApp(200);
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const id = `request-${n}`;
        const { response, moments } = await asks[kind](crossed, { "x-request-id": id, cookie: `who=${n}` });
        const before = [id, String(n), null];
        const after = [id, String(n), `user-${id}`];
        expect(moments).toEqual(kind === "stream" ? [before, before, after, after] : [before, before, after]);
        expect(response.headers.get("x-request-id")).toBe(id);
        const cookies = response.headers.getSetCookie();
        expect(cookies).toHaveLength(2);
        expect(cookies[1]).toBe(`mine=${id}; Path=/; HttpOnly; SameSite=Lax`);
        const payload = /^web_session=([\w-]+)\./.exec(cookies[0] ?? "")?.[1] ?? "";
        expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toMatchObject({ sub: `user-${id}` });
      }),
    );
  });
});

describe("new App", () => {
  it("says what it serves", () => {
    expect(app.functions).toEqual(["add", "ticks", "secret"]);
    expect(app.pages).toEqual(["/", "/users/:id", "/docs/**:rest", "/away", "/gone", "/broken", "/about"]);
  });

  it.each(["shop", "/shop/", "/", "//a", "/a b", "/a?b", "/<a>"])("refuses the base %j", (base) => {
    expect(() => appOf(module, { base })).toThrow("base must be a path");
  });

  it("tells load balancers when it is about to stop", async () => {
    const stopping = appOf(module);
    expect(await (await get(stopping, "/readyz")).json()).toEqual({ ready: true });
    stopping.drain();
    const response = await get(stopping, "/readyz");
    expect([response.status, await response.json()]).toEqual([503, { ready: false }]);
    expect((await get(stopping, "/healthz")).status).toBe(200);
  });
});

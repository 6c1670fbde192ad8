import fc from "fast-check";
import { h } from "preact";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { callOverHttp, compiledPage, compiledRoute, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import { redirect, request } from "./http/index.ts";
import { NotFound } from "./pages/index.ts";

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
  hook: compiledRoute("POST /hook", () => new Response("received")),
  broken_hook: compiledRoute("POST /broken-hook", () => {
    throw new Error("broken");
  }),
  secret: compiledServer("secret", () => 1, { options: { auth_required: true } }),
};
const app = createTestApp(module, { rate: false });

/** Returns the JSON that a page shows. */
async function readShownJson(response: Response): Promise<unknown> {
  const text = /<pre>(.*?)<\/pre>/s.exec(await response.text())?.[1] ?? "";
  return JSON.parse(text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&"));
}

/** The preflight request that a browser sends before a cross-origin request. */
const preflight = (headers: Record<string, string>) => ({
  method: "OPTIONS",
  headers: {
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type, x-csrf-token",
    ...headers,
  },
});

const json = { "content-type": "application/json" };
const RESPONSES: readonly (readonly [string, number, (headers: Record<string, string>) => Promise<Response>])[] = [
  ["a page", 200, (headers) => getPage(app, "/", { headers })],
  ["HEAD of a page", 200, (headers) => getPage(app, "/", { headers, method: "HEAD" })],
  ["a redirect", 303, (headers) => getPage(app, "/away", { headers })],
  ["a page with a slash at its end", 308, (headers) => getPage(app, "/about/", { headers })],
  ["an unknown path", 404, (headers) => getPage(app, "/nothing", { headers })],
  ["a page that throws NotFound", 404, (headers) => getPage(app, "/gone", { headers })],
  ["a page that fails", 500, (headers) => getPage(app, "/broken", { headers })],
  ["another method than GET", 405, (headers) => getPage(app, "/", { headers, method: "POST" })],
  ["a malformed path", 400, (headers) => getPage(app, "/a%00", { headers })],
  [
    "a body that is too large",
    413,
    (headers) => getPage(app, "/", { headers: { ...headers, "content-length": "1048577" } }),
  ],
  ["a route", 200, (headers) => getPage(app, "/hook", { headers, method: "POST" })],
  ["a route that fails", 500, (headers) => getPage(app, "/broken-hook", { headers, method: "POST" })],
  ["a preflight of a page", 405, (headers) => getPage(app, "/", preflight(headers))],
  ["a preflight of a route", 405, (headers) => getPage(app, "/hook", preflight(headers))],
  ["a preflight of a call", 405, (headers) => getPage(app, "/__web/rpc/add", preflight(headers))],
  ["an event stream without a feed", 400, (headers) => getPage(app, "/__web/live", { headers })],
  ["a poll without a feed", 400, (headers) => getPage(app, "/__web/poll", { headers })],
  ["health", 200, (headers) => getPage(app, "/healthz", { headers })],
  ["a call", 200, (headers) => callOverHttp(app, "add", { a: 1 }, { headers })],
  ["a stream", 200, (headers) => callOverHttp(app, "ticks", {}, { headers })],
  ["a call by GET", 405, (headers) => getPage(app, "/__web/rpc/add", { headers })],
  [
    "a call with another content type",
    415,
    (headers) => callOverHttp(app, "add", {}, { headers: { ...headers, "content-type": "a/b" } }),
  ],
  ["a cross-origin call", 403, (headers) => callOverHttp(app, "add", {}, { headers: { ...headers, origin: "null" } })],
  ["an unknown function", 404, (headers) => callOverHttp(app, "nothing", {}, { headers })],
  ["a signed-out call", 401, (headers) => callOverHttp(app, "secret", {}, { headers })],
  ["a call with invalid arguments", 422, (headers) => callOverHttp(app, "add", {}, { headers })],
  [
    "a call with a body that is too large",
    413,
    (headers) => callOverHttp(app, "add", {}, { headers: { ...headers, "content-length": "1048577" } }),
  ],
];

const SECURITY_HEADERS_OF_DATA = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

const SECURITY_HEADERS = {
  ...SECURITY_HEADERS_OF_DATA,
  "content-security-policy":
    "default-src 'self'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; object-src 'none'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'self'; img-src 'self' data: https:",
  "x-frame-options": "SAMEORIGIN",
  "referrer-policy": "strict-origin-when-cross-origin",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

const securityHeadersOf = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => Object.hasOwn(SECURITY_HEADERS, name)));

describe("every response", () => {
  it.each(RESPONSES)(
    "(%s: %i) has the ids of its request and the security headers [SITE-27]",
    async (description, status, send) => {
      const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
      const response = await send({ "x-request-id": "ours-1", traceparent: `00-${trace}-00f067aa0ba902b7-01` });
      expect(response.status).toBe(status);
      const { headers } = response;
      expect(headers.get("x-request-id")).toBe("ours-1");
      expect(headers.get("traceparent")).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
      const isData = /^application\/(json|x-ndjson)$/.test(headers.get("content-type") ?? "");
      expect(securityHeadersOf(headers)).toEqual(isData ? SECURITY_HEADERS_OF_DATA : SECURITY_HEADERS);
      expect(headers.has("strict-transport-security")).toBe(false);
      const isOfScript = /call|stream|poll|function/.test(description);
      const caching = isOfScript ? "private, no-cache" : "private, no-store";
      if (status !== 308) expect(headers.get("cache-control")).toBe(caching);
      await response.body?.cancel();
    },
  );

  it.each(RESPONSES)("(%s: %i) has new ids when those of the request are invalid", async (_, __, send) => {
    const { headers, body } = await send({ "x-request-id": "<script>", traceparent: "00-0-0-00" });
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(headers.get("traceparent")).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    await body?.cancel();
  });

  it.each(RESPONSES)(
    "(%s: %i) has no CORS header, with and without the Origin of another site [SITE-9]",
    async (_, __, send) => {
      for (const headers of [{}, { origin: "https://evil.example" }]) {
        const response = await send(headers);
        expect([...response.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
        await response.body?.cancel();
      }
    },
  );

  it("has Strict-Transport-Security when cookies are secure", async () => {
    const secure = createTestApp(module, { env: { WEB_AUTH_SECRET: "5a".repeat(32), WEB_COOKIE_SECURE: "1" } });
    for (const path of ["/", "/__web/rpc/add"])
      expect((await getPage(secure, path)).headers.get("strict-transport-security")).toBe("max-age=31536000");
  });
});

describe("pages", () => {
  it("receive the decoded parameters of their path", async () => {
    expect(await readShownJson(await getPage(app, "/users/a%20b%2Fc"))).toEqual({ id: "a b/c" });
    expect(await readShownJson(await getPage(app, "/docs/a/b%20c"))).toEqual({ rest: "a/b c" });
  });

  it("read path, method and query of the request, and set cookies", async () => {
    const response = await getPage(app, "/about?a=1&a=2&b=%3Cx%3E&__proto__=p");
    expect(response.headers.get("set-cookie")).toBe("seen=1; Path=/; HttpOnly; SameSite=Lax");
    expect(await readShownJson(response)).toEqual(
      JSON.parse('{"path":"/about","method":"GET","query":{"a":"2","b":"<x>","__proto__":"p"}}'),
    );
  });

  it("respond to HEAD as to GET, without the body, and to other methods with 405", async () => {
    const head = await getPage(app, "/about", { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(head.headers.get("set-cookie")).toBe("seen=1; Path=/; HttpOnly; SameSite=Lax");
    expect(await head.text()).toBe("");
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const response = await getPage(app, "/about", { method });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("GET, HEAD");
    }
  });

  it("redirect from a path with a slash at its end to the one without", async () => {
    for (const [path, location] of [
      ["/about/", "/about"],
      ["/about/?a=b", "/about?a=b"],
      ["/users/1/", "/users/1"],
    ] as const) {
      const response = await getPage(app, path);
      expect([response.status, response.headers.get("location")]).toEqual([308, location]);
    }
    expect((await getPage(app, "/")).status).toBe(200);
    expect((await getPage(app, "/nothing/")).status).toBe(404);
  });

  it("are served below the application's base, and nothing outside it is", async () => {
    const based = createTestApp(module, { base: "/shop" });
    const statusOf = async (path: string) => (await getPage(based, path)).status;
    expect(await Promise.all(["/shop", "/shop/about", "/shop/users/1"].map(statusOf))).toEqual([200, 200, 200]);
    expect(await Promise.all(["/", "/about", "/shopping", "/shop2/about"].map(statusOf))).toEqual([404, 404, 404, 404]);
    expect((await getPage(based, "/shop/away")).headers.get("location")).toBe("/shop/users/1");
    expect((await getPage(based, "/shop/about/")).headers.get("location")).toBe("/shop/about");
    expect((await callOverHttp(based, "add", { a: 1 })).status).toBe(404);
    const own = new Request("http://shop.example/shop/__web/rpc/add", {
      method: "POST",
      headers: json,
      body: '{"args":{"a":1}}',
    });
    expect(await (await based.fetch(own)).json()).toEqual({ result: 2 });
  });
});

describe("malformed paths", () => {
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
  ])("%s is rejected with 400", async (path) => {
    const response = await getPage(app, path);
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  it.each(["/docs/../../etc/passwd", "/docs/%2e%2e/%2e%2e/etc/passwd", "/docs/..\\..\\etc"])(
    "%s does not leave the root",
    async (path) => {
      expect((await getPage(app, path)).status).toBe(404);
    },
  );

  it("never cause a server error or a redirect to another host, whatever they are", async () => {
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
          const { status, headers } = await getPage(app, `/${path.join("")}`, { method });
          expect(status).toBeLessThan(500);
          const location = headers.get("location");
          if (location !== null) expect(new URL(location, "http://shop.example").host).toBe("shop.example");
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("new App", () => {
  it("lists the functions and pages that it serves", () => {
    expect(app.functions).toEqual(["add", "ticks", "secret"]);
    expect(app.pages).toEqual(["/", "/users/:id", "/docs/**:rest", "/away", "/gone", "/broken", "/about"]);
  });

  it.each(["shop", "/shop/", "/", "//a", "/a b", "/a?b", "/<a>"])("rejects the base %j", (base) => {
    expect(() => createTestApp(module, { base })).toThrow("base must be a path");
  });

  it("reports by /readyz that it is about to stop", async () => {
    const stopping = createTestApp(module);
    expect(await (await getPage(stopping, "/readyz")).json()).toEqual({ ready: true });
    stopping.drain();
    const response = await getPage(stopping, "/readyz");
    expect([response.status, await response.json()]).toEqual([503, { ready: false }]);
    expect((await getPage(stopping, "/healthz")).status).toBe(200);
  });
});

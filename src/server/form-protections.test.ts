/**
 * Every protection of forms, at both of their addresses. The table "Protections by kind" in docs/security.md lists them:
 * removing one of them from one address makes a test of this file fail.
 */
import { h } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { CSRF_ENV, FORM_ENV } from "#test/join-app";
import { cookieHeaderOf, requestContext, testConfig } from "#test/request-context";
import type { App, AppOptions } from "../app.ts";
import { runInContext } from "../http/index.ts";
import type { ServerOptions } from "../rpc/index.ts";
import { issueCsrfToken, session } from "../session/index.ts";

const MIB = 1024 * 1024;
const RATE = { calls: 3, seconds: 60 };
const ORIGIN = { origin: "http://shop.example" };

/** How often the function and the page have run. */
let runs = 0;
let pageRuns = 0;
beforeEach(() => {
  runs = 0;
  pageRuns = 0;
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const PARAMS = {
  count: { type: "int", optional: true },
  text: { type: "any", optional: true, shape: { kinds: ["string"] } },
} as const;

function createApp(options: Partial<AppOptions> = {}, server: ServerOptions = {}, work: () => unknown = () => 1): App {
  const run = compiledServer(
    "run",
    () => {
      runs++;
      return work();
    },
    { params: PARAMS, options: server },
  );
  const stream = compiledServer(
    "stream",
    function* () {
      yield runs++;
    },
    { stream: true },
  );
  const home = compiledPage("/home", () => {
    pageRuns++;
    return h("form", { action: run as never }); // JSX accepts it
  });
  return createTestApp({ run, stream, home }, { env: FORM_ENV, ...options });
}

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
  readonly method?: string;
  readonly name?: string;
  readonly address?: string;
}

const URLENCODED = { "content-type": "application/x-www-form-urlencoded" };

describe.each([
  ["page", (name: string) => `/home?__form=${name}`],
  ["form address", (name: string) => `/__web/form/${name}`],
])("a form that is sent to its %s", (kind, path) => {
  const isPage = kind === "page";

  function send(app: App, { headers = ORIGIN, body = "", method = "POST", name = "run", address }: Sent = {}) {
    const hasBody = method !== "GET" && method !== "HEAD";
    const init = { method, headers: { ...URLENCODED, ...headers }, duplex: "half", ...(hasBody ? { body } : {}) };
    return app.fetch(new Request(`http://shop.example${path(name)}`, init), { address: address ?? "192.0.2.1" });
  }

  async function expectRejected(response: Response, status: number): Promise<void> {
    expect(response.status).toBe(status);
    await response.text();
    expect(runs).toBe(0);
  }

  async function expectAccepted(response: Response): Promise<void> {
    expect(response.status).toBe(200);
    await response.text();
    expect(runs).toBe(1);
    runs = 0;
  }

  it.each(["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])("runs nothing with the method %s", async (method) => {
    const response = await send(createApp(), { method });
    if (isPage && (method === "GET" || method === "HEAD")) expect(response.status).toBe(200);
    else expect([response.status, response.headers.get("allow")]).toEqual([405, isPage ? "GET, HEAD" : "POST"]);
    expect(runs).toBe(0);
  });

  it.each(["application/json", "text/plain", "multipart/mixed", ""])(
    "is rejected with the content type %j",
    async (type) => {
      const app = createApp({ rate: RATE });
      for (let i = 0; i <= RATE.calls; i++) {
        await expectRejected(await send(app, { headers: { ...ORIGIN, "content-type": type } }), 415); // not counted
      }
      expect(pageRuns).toBe(0);
      const form = new FormData();
      form.set("text", "a");
      const encoded = new Response(form);
      const headers = { ...ORIGIN, "content-type": encoded.headers.get("content-type") ?? "" };
      await expectAccepted(await send(app, { headers, body: await encoded.text() }));
    },
  );

  it.each([
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "" },
    { origin: "https://shop.example" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
    {},
  ])("is rejected from another origin, and without an origin: %j [SITE-10]", async (headers) => {
    const app = createApp({ rate: RATE });
    for (let i = 0; i <= RATE.calls; i++) {
      const response = await send(app, { headers: headers as Record<string, string> });
      expect(response.headers.get("content-type")).toMatch(isPage ? /^text\/plain/ : /^application\/json/);
      await expectRejected(response, 403);
      expect(pageRuns).toBe(0);
    }
    await expectAccepted(await send(app, { headers: ORIGIN }));
    await expectAccepted(await send(app, { headers: { "sec-fetch-site": "same-origin" } }));
  });

  it("is rejected above the rate of its client, which it shares with calls", async () => {
    const app = createApp({ rate: RATE });
    await expectAccepted(await send(app));
    await expectAccepted(await send(app));
    await app.fetch(
      new Request("http://shop.example/__web/rpc/run", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"args":{}}',
      }),
      { address: "192.0.2.1" },
    );
    runs = 0;
    const response = await send(app);
    expect(response.headers.get("retry-after")).toMatch(/^6[0-5]$/);
    await expectRejected(response, 429);
    await expectAccepted(await send(app, { address: "192.0.2.2" }));
  });

  it.each(["nothing", "stream", "toString", "__proto__", "%72un", ""])(
    "is rejected for the function %j",
    async (name) => {
      const app = createApp();
      if (isPage && name === "%72un") return expectAccepted(await send(app, { name })); // a query is decoded
      const response = await send(app, { name });
      expect(response.status === 404 || response.status === 400).toBe(true);
      await expectRejected(response, response.status);
    },
  );

  it("with auth_required is rejected without a sign-in", async () => {
    const app = createApp({}, { auth_required: true });
    await expectRejected(await send(app), 401);
    await expectAccepted(await send(app, { headers: { ...ORIGIN, cookie: signedIn().cookie } }));
  });

  it("with auth_required is rejected without the CSRF token of this sign-in [SITE-18]", async () => {
    const app = createApp({ env: CSRF_ENV }, { auth_required: true });
    const user = signedIn();
    const headers = { ...ORIGIN, cookie: user.cookie };
    for (const token of [undefined, "", "x".repeat(64), signedIn().token]) {
      const body = token === undefined ? "" : `__csrf=${token}`;
      await expectRejected(await send(app, { headers, body }), 403);
      if (token !== undefined)
        await expectRejected(await send(app, { headers: { ...headers, "x-csrf-token": token } }), 403);
    }
    // The header is that of a script, which has the latest token: the field may be stale.
    const stale = { headers: { ...headers, "x-csrf-token": "x" }, body: `__csrf=${user.token}` };
    await expectRejected(await send(app, stale), 403);
    await expectAccepted(await send(app, { headers: { ...headers, "x-csrf-token": user.token }, body: "__csrf=x" }));
    await expectAccepted(await send(app, { headers, body: `__csrf=${user.token}` }));
    await expectAccepted(await send(app, { headers: { ...headers, "x-csrf-token": user.token } }));
  });

  it("without auth_required needs no CSRF token", async () => {
    const headers = { ...ORIGIN, cookie: signedIn().cookie };
    await expectAccepted(await send(createApp({ env: CSRF_ENV }), { headers }));
  });

  it("is rejected with a body over 1 MiB, at 1 MiB not, with and without a declared length", async () => {
    const app = createApp();
    const ofSize = (bytes: number) => `text=${"x".repeat(bytes - 5)}`;
    const chunked = (bytes: number) => new Blob([ofSize(bytes)]).stream();
    const declared = (bytes: number) => ({
      body: ofSize(bytes),
      headers: { ...ORIGIN, "content-length": String(bytes) },
    });
    await expectRejected(await send(app, declared(MIB + 2)), 413);
    await expectRejected(await send(app, { body: chunked(MIB + 2) }), 413);
    await expectAccepted(await send(app, declared(MIB - 1)));
    await expectAccepted(await send(app, { body: chunked(MIB - 1) }));
  });

  it.each(["count=x", "count=1.5", "count=9007199254740993"])(
    "is rejected if its fields do not match: %s",
    async (body) => {
      const app = createApp();
      await expectRejected(await send(app, { body }), 422);
      await expectAccepted(await send(app, { body: "count=12&other=1&__proto__=2&constructor.prototype.x=3" }));
    },
  );

  it("that exceeds its time limit, or that of the application, gets 504", async () => {
    const never = () => new Promise(() => undefined);
    expect((await send(createApp({}, { rpc_timeout: 0.02 }, never))).status).toBe(504);
    expect((await send(createApp({ rpc_timeout: 0.02 }, {}, never))).status).toBe(504);
  });

  it("shows nothing of an unexpected error", async () => {
    const response = await send(
      createApp({}, {}, () => {
        throw new Error("secret reason");
      }),
    );
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret reason");
  });
});

it("a call is rejected with the body of a form [SITE-12]", async () => {
  const headers = { ...ORIGIN, ...URLENCODED };
  expect((await callOverHttp(createApp(), "run", {}, { headers, body: "count=1" })).status).toBe(415);
  expect(runs).toBe(0);
});

/** Returns the cookie of a client that is signed in, and its CSRF token. */
function signedIn(): { cookie: string; token: string } {
  const first = requestContext(undefined, testConfig(CSRF_ENV));
  runInContext(first, () => session.login("ada"));
  const cookie = cookieHeaderOf(first);
  return { cookie, token: issueCsrfToken(requestContext(cookie, testConfig(CSRF_ENV))) ?? "" };
}

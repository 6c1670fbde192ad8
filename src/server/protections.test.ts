/**
 * Every protection, for every kind of handler that it protects. The table "Protections by kind" in docs/security.md lists
 * them: removing one of them from one kind makes a test of this file, or of src/live/protections.test.ts, fail.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { cookieHeaderOf, requestContext, testConfig } from "#test/request-context";
import type { App, AppOptions } from "../app.ts";
import { runInContext } from "../http/index.ts";
import type { ServerOptions } from "../rpc/index.ts";
import { issueCsrfToken, session } from "../session/index.ts";

const MIB = 1024 * 1024;
const ENV = { WEB_AUTH_SECRET: "5a".repeat(32) };
const CSRF_ENV = { ...ENV, WEB_CSRF_SECRET: "6b".repeat(32) };
const RATE = { calls: 3, seconds: 60 };

/** How often a handler has run. */
let runs = 0;
beforeEach(() => {
  runs = 0;
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

type Handler = (...args: unknown[]) => unknown;

/** The functions of a module that have the name `run`, one for each kind of call. */
const CALLS: Readonly<Record<string, (options: ServerOptions, work: Handler) => unknown>> = {
  function: (options, work) => compiledServer("run", work, { params: PARAMS, options }),
  "function with one object of parameters": (options, work) =>
    compiledServer("run", work, { params: PARAMS, keyed: true, options }),
  "function with schemas": (options, work) =>
    compiledServer("run", work, { params: PARAMS, options: { ...options, validate: { value: ANY } } }),
  stream: (options, work) =>
    compiledServer(
      "run",
      function* (...args: unknown[]) {
        yield work(...args);
      },
      { params: PARAMS, stream: true, options },
    ),
  "asynchronous stream": (options, work) =>
    compiledServer(
      "run",
      async function* (...args: unknown[]) {
        yield await work(...args);
      },
      { params: PARAMS, stream: true, options },
    ),
};

const PARAMS = {
  count: { type: "int", optional: true },
  value: { type: "any", optional: true },
  text: { type: "any", optional: true, shape: { kinds: ["string"] } },
} as const;

/** A schema that accepts every value. */
const ANY = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } } as const;

interface Sent extends RequestInit {
  readonly address?: string;
  /** Half-duplex is required for a stream as a body. */
  readonly duplex?: "half";
}

function send(app: App, path: string, { address = "192.0.2.1", ...init }: Sent): Promise<Response> {
  return app.fetch(new Request(`http://shop.example${path}`, init), { address });
}

function call(app: App, { body = '{"args":{}}', headers, ...rest }: Sent = {}): Promise<Response> {
  const all = { "content-type": "application/json", ...(headers as Record<string, string>) };
  return send(app, "/__web/rpc/run", { method: "POST", body, headers: all, ...rest });
}

/** Checks that a request was rejected with this status and code, before the handler ran. */
async function expectRejected(response: Response, status: number, code: string): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toMatchObject({ error: { code } });
  expect(runs).toBe(0);
}

/** Checks that a request was accepted, and ran the handler once. */
async function expectAccepted(response: Response): Promise<void> {
  expect(response.status).toBe(200);
  await response.text(); // a stream runs while it is read
  expect(runs).toBe(1);
  runs = 0;
}

/** Returns the headers of a client that is signed in, with its CSRF token. */
function signedIn(): { cookie: string; "x-csrf-token": string } {
  const first = requestContext(undefined, testConfig(CSRF_ENV));
  runInContext(first, () => session.login("ada"));
  const cookie = cookieHeaderOf(first);
  return { cookie, "x-csrf-token": issueCsrfToken(requestContext(cookie, testConfig(CSRF_ENV))) ?? "" };
}

/** Returns a body without a declared length: `{"args":{"value":"xxx…"}}` of this size. */
function chunkedBody(bytes: number): Sent {
  const text = bodyOfSize(bytes);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const encoder = new TextEncoder();
      for (let at = 0; at < text.length; at += 65_536) controller.enqueue(encoder.encode(text.slice(at, at + 65_536)));
      controller.close();
    },
  });
  return { body, duplex: "half" };
}

function bodyOfSize(bytes: number): string {
  const [start, end] = ['{"args":{"value":"', '"}}'];
  return start + "x".repeat(bytes - start.length - end.length) + end;
}

/** Returns arguments that nest this many levels, the object of arguments included. */
const nested = (levels: number) => `{"args":{"value":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}}`;

describe.each(Object.entries(CALLS))("a call of a %s", (_, declare) => {
  const createApp = (options: Partial<AppOptions> = {}, functionOptions: ServerOptions = {}, work: Handler = () => 1) =>
    createTestApp(
      {
        run: declare(functionOptions, (...args) => {
          runs++;
          return work(...args);
        }),
      },
      { env: ENV, ...options },
    );

  it.each(["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])("is rejected with the method %s", async (method) => {
    const response = await send(createApp(), "/__web/rpc/run", {
      method,
      headers: { "content-type": "application/json" },
      ...(method === "GET" || method === "HEAD" ? {} : { body: '{"args":{}}' }),
    });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
    expect(runs).toBe(0);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""])(
    "is rejected with the content type %j",
    async (type) => {
      const app = createApp();
      await expectRejected(await call(app, { headers: { "content-type": type } }), 415, "validation_error");
      await expectAccepted(await call(app, { headers: { "content-type": "Application/JSON; charset=utf-8" } }));
    },
  );

  it.each([
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "https://shop.example" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ])("is rejected from another origin: %j [SITE-3]", async (headers) => {
    const app = createApp();
    await expectRejected(await call(app, { headers }), 403, "forbidden");
    await expectAccepted(await call(app, { headers: { origin: "http://shop.example" } }));
  });

  it("is rejected above the rate of its client, at the rate not [SITE-4]", async () => {
    const app = createApp({ rate: RATE });
    for (let i = 0; i < RATE.calls; i++) await expectAccepted(await call(app));
    const response = await call(app);
    expect(response.headers.get("retry-after")).toMatch(/^6[0-5]$/);
    await expectRejected(response, 429, "rate_limited");
    await expectAccepted(await call(app, { address: "192.0.2.2" }));
  });

  it("does not count towards the rate if its method, content type or origin is rejected [SITE-6]", async () => {
    const app = createApp({ rate: RATE });
    for (let i = 0; i < 5; i++) {
      await expectRejected(await call(app, { headers: { origin: "https://evil.example" } }), 403, "forbidden");
      await expectRejected(await call(app, { headers: { "sec-fetch-site": "cross-site" } }), 403, "forbidden");
      await expectRejected(await call(app, { headers: { "content-type": "text/plain" } }), 415, "validation_error");
      expect((await send(app, "/__web/rpc/run", {})).status).toBe(405);
    }
    for (let i = 0; i < RATE.calls; i++) await expectAccepted(await call(app));
  });

  it("with auth_required is rejected without a sign-in", async () => {
    const app = createApp({}, { auth_required: true });
    await expectRejected(await call(app), 401, "unauthenticated");
    await expectAccepted(await call(app, { headers: { cookie: signedIn().cookie } }));
  });

  it("with auth_required is rejected without the CSRF token of this sign-in [SITE-5]", async () => {
    const app = createApp({ env: CSRF_ENV }, { auth_required: true });
    const user = signedIn();
    const other = signedIn();
    for (const token of [undefined, "", "x".repeat(64), other["x-csrf-token"]]) {
      const headers = { cookie: user.cookie, ...(token === undefined ? {} : { "x-csrf-token": token }) };
      await expectRejected(await call(app, { headers }), 403, "forbidden");
    }
    await expectAccepted(await call(app, { headers: user }));
  });

  it("without auth_required needs no CSRF token", async () => {
    await expectAccepted(await call(createApp({ env: CSRF_ENV }), { headers: { cookie: signedIn().cookie } }));
  });

  it("is rejected with a body over 1 MiB, at 1 MiB not, with and without a declared length", async () => {
    const app = createApp();
    const declared = (bytes: number): Sent => ({
      body: bodyOfSize(bytes),
      headers: { "content-length": String(bytes) },
    });
    for (const body of [declared, chunkedBody]) {
      await expectRejected(await call(app, body(MIB + 1)), 413, "validation_error");
      await expectAccepted(await call(app, body(MIB)));
    }
  });

  it("is rejected if its arguments nest deeper than 64 levels, at 64 not", async () => {
    const app = createApp();
    await expectRejected(await call(app, { body: nested(65) }), 422, "validation_error");
    await expectAccepted(await call(app, { body: nested(64) }));
  });

  it("is rejected if its arguments have a key __proto__", async () => {
    const body = '{"args":{"value":{"__proto__":{}}}}';
    await expectRejected(await call(createApp(), { body }), 422, "validation_error");
  });

  it.each(['{"args":{"count":"x"}}', '{"args":{"count":1.5}}', '{"args":{"other":1}}', '{"args":[]}', "[]", "x", ""])(
    "is rejected with arguments that do not match its parameters: %s",
    async (body) => {
      const app = createApp();
      await expectRejected(await call(app, { body }), 422, "validation_error");
      await expectAccepted(await call(app, { body: '{"args":{"count":"12"}}' }));
    },
  );

  it("is rejected if a text is not one, in a strict application only", async () => {
    const body = '{"args":{"text":1}}';
    await expectRejected(await call(createApp({ strict: true }), { body }), 422, "validation_error");
    await expectAccepted(await call(createApp({ strict: true }), { body: '{"args":{"text":"1"}}' }));
    await expectAccepted(await call(createApp(), { body }));
  });
});

describe.each(Object.entries(CALLS).filter(([kind]) => !kind.includes("stream")))("a %s", (_, declare) => {
  it("that exceeds its time limit gets 504", async () => {
    const app = createTestApp(
      { run: declare({ rpc_timeout: 0.02 }, () => new Promise(() => undefined)) },
      { env: ENV },
    );
    expect((await call(app)).status).toBe(504);
  });

  it("that exceeds the time limit of the application gets 504", async () => {
    const app = createTestApp(
      { run: declare({}, () => new Promise(() => undefined)) },
      { env: ENV, rpc_timeout: 0.02 },
    );
    expect((await call(app)).status).toBe(504);
  });
});

describe.each(Object.entries(CALLS).filter(([kind]) => kind.includes("stream")))("a %s", (_, declare) => {
  it("has no time limit", async () => {
    const slow = () => new Promise((resolve) => setTimeout(resolve, 60, 1));
    const app = createTestApp({ run: declare({ rpc_timeout: 0.02 }, slow) }, { env: ENV, rpc_timeout: 0.02 });
    expect(await (await call(app)).text()).toBe('{"chunk":1}\n{"done":true}\n');
  });

  it("is rejected if its client has as many open as the limit [REQUEST-60]", async () => {
    const app = createTestApp({ run: declare({}, () => 1) }, { env: { ...ENV, WEB_MAX_STREAMS_PER_CLIENT: "2" } });
    const open = [await call(app), await call(app)];
    const rejected = await call(app);
    expect(rejected.status).toBe(429);
    expect(await rejected.json()).toMatchObject({ error: { code: "rate_limited" } });
    for (const response of open) expect(await response.text()).toContain("done");
    expect((await call(app)).status).toBe(200);
  });
});

describe("a page", () => {
  const createApp = (options: Partial<AppOptions> = {}) =>
    createTestApp(
      {
        home: compiledPage("/home", () => {
          runs++;
          return "Home";
        }),
      },
      { env: CSRF_ENV, ...options },
    );
  const get = (app: App, init: Sent = {}) => send(app, "/home", init);

  it.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("is rejected with the method %s", async (method) => {
    const response = await get(createApp(), { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD");
    expect(runs).toBe(0);
  });

  it("is rejected with a declared body over 1 MiB, at 1 MiB not", async () => {
    const withLength = (bytes: number) => get(createApp(), { headers: { "content-length": String(bytes) } });
    expect((await withLength(MIB + 1)).status).toBe(413);
    expect(runs).toBe(0);
    await expectAccepted(await withLength(MIB));
  });

  it("has no check of origin, rate, content type and token, and no time limit", async () => {
    const app = createApp({ rate: RATE, rpc_timeout: 0.001 });
    const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site", "content-type": "text/plain" };
    for (let i = 0; i <= RATE.calls; i++) await expectAccepted(await get(app, { headers }));
  });
});

describe("a route", () => {
  const createApp = (options: Partial<AppOptions> = {}) =>
    createTestApp(
      {
        hook: compiledRoute("POST /hook", async (request) => {
          const { length } = await request.text();
          runs++;
          return new Response(String(length));
        }),
      },
      { env: CSRF_ENV, ...options },
    );
  const post = (app: App, init: Sent = {}) => send(app, "/hook", { method: "POST", body: "{}", ...init });

  it.each(["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])("is rejected with the method %s", async (method) => {
    const response = await send(createApp(), "/hook", { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
    expect(runs).toBe(0);
  });

  it("is rejected with a body over 1 MiB, at 1 MiB not, with and without a declared length", async () => {
    const app = createApp();
    const declared = (bytes: number): Sent => ({
      body: "x".repeat(bytes),
      headers: { "content-length": String(bytes) },
    });
    for (const body of [declared, chunkedBody]) {
      expect((await post(app, body(MIB + 1))).status).toBe(413);
      expect(runs).toBe(0);
      await expectAccepted(await post(app, body(MIB)));
    }
  });

  it("has no check of origin, rate, content type and token, and no time limit", async () => {
    const app = createApp({ rate: RATE, rpc_timeout: 0.001 });
    const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site", "content-type": "text/plain" };
    for (let i = 0; i <= RATE.calls; i++) await expectAccepted(await post(app, { headers }));
  });
});

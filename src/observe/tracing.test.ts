import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AlwaysOffSampler, type ReadableSpan } from "@opentelemetry/sdk-trace-node";
import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callOverHttp, compiledPage, compiledRoute, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import { recordedLog } from "#test/recorded-log";
import { registerSdk, unregisterSdk } from "#test/spans";
import type { App, AppOptions } from "../app.ts";
import { RPCError, ValueError } from "../errors.ts";
import { runOutsideRequests } from "../http/index.ts";
import { NotFound } from "../pages/index.ts";

const SECRET = "hunter2";
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

let sdk: ReturnType<typeof registerSdk>;
const apps: App[] = [];
beforeEach(() => {
  sdk = registerSdk();
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  unregisterSdk();
});

/** Starts and ends a span of the application, after something was awaited. */
async function ownSpan(name: string): Promise<void> {
  await Promise.resolve();
  trace.getTracer("shop").startActiveSpan(name, (span) => span.end());
}

class DatabaseError extends Error {
  readonly row = { password: SECRET };
}

const MODULE = {
  add: compiledServer("add", async (a: number) => ownSpan("query").then(() => a + 1), { params: { a: "int" } }),
  refuse: compiledServer("refuse", () => {
    throw new RPCError("conflict", "Taken");
  }),
  invalid: compiledServer("invalid", () => {
    throw new ValueError("No");
  }),
  fail: compiledServer("fail", () => {
    throw new DatabaseError("Connection lost");
  }),
  text: compiledServer("text", () => {
    throw `The text ${SECRET.length}`;
  }),
  numbers: compiledServer(
    "numbers",
    async function* () {
      for (let n = 0; ; n++) {
        await ownSpan(`step ${n}`);
        yield n;
      }
    },
    { stream: true },
  ),
  broken_numbers: compiledServer(
    "broken_numbers",
    function* () {
      yield 1;
      throw new DatabaseError("Connection lost");
    },
    { stream: true },
  ),
  user: compiledPage("/users/:id", async () => ownSpan("load").then(() => "Ada")),
  missing: compiledPage("/missing", () => {
    throw new NotFound();
  }),
  hook: compiledRoute("PUT /hooks/:id", async () => ownSpan("store").then(() => new Response("ok"))),
  later: compiledRoute("GET /later", () => {
    runOutsideRequests(() => trace.getTracer("shop").startSpan("timer").end());
    return new Response("ok");
  }),
};

async function tracedApp(options: Partial<AppOptions> = {}) {
  const { log, lines } = recordedLog();
  const env = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_ACCESS_LOG: "1" };
  const app = createTestApp(MODULE, { log, env, ...options });
  apps.push(app);
  await app.start();
  return { app, lines };
}

/** What a test compares of a span. */
const brief = ({ name, kind, attributes, status, events }: ReadableSpan) => ({
  name,
  kind,
  attributes,
  status: status.code,
  events: events.map((event) => event.attributes?.["exception.type"]),
});

/** The expected form of the span of a request. */
const requestSpan = (name: string, status: number, attributes: object) => ({
  ...{ name, kind: SpanKind.SERVER, status: SpanStatusCode.UNSET, events: [] },
  attributes: {
    "http.request.method": name.split(" ")[0],
    "http.response.status_code": status,
    "url.scheme": "http",
    ...attributes,
  },
});

const json = { "content-type": "application/json" };

describe("the span of a request", () => {
  it("has the pattern of the path and the function, and nothing that a client has sent [RESPONSE-21]", async () => {
    const { app } = await tracedApp();
    const headers = { authorization: SECRET, cookie: `a=${SECRET}`, "user-agent": SECRET };
    const send = (path: string, init: RequestInit = {}) =>
      getPage(app, `${path}?token=${SECRET}`, { ...init, headers: { ...headers, ...init.headers } });
    await send(`/users/${SECRET}`);
    await send("/__web/rpc/add", { method: "POST", headers: json, body: `{"args":{"a":41},"x":"${SECRET}"}` });
    await send(`/__web/rpc/${SECRET}`, { method: "POST", headers: json, body: "{}" });
    const form = new URLSearchParams({ a: "1", password: SECRET });
    await send("/__web/form/add", { method: "POST", body: form, headers: { origin: "http://shop.example" } });
    await (await send(`/hooks/${SECRET}`, { method: "PUT", body: SECRET })).text();
    await send(`/nothing/${SECRET}`);
    await send(`/users/${SECRET}`, { method: "PROPFIND" });
    const own = new Set(["load", "query", "store"]);
    const spans = sdk.spans.filter(({ name }) => !own.has(name));
    const call = { "rpc.system.name": "tsweb", "rpc.method": "add" };
    expect(spans.map(brief)).toEqual([
      requestSpan("GET /users/:id", 200, { "http.route": "/users/:id", "tsweb.kind": "page" }),
      requestSpan("POST /__web/rpc/add", 200, { "http.route": "/__web/rpc/add", "tsweb.kind": "call", ...call }),
      requestSpan("POST", 404, { "tsweb.kind": "call" }),
      requestSpan("POST /__web/form/add", 200, { "http.route": "/__web/form/add", "tsweb.kind": "form", ...call }),
      requestSpan("PUT /hooks/:id", 200, { "http.route": "/hooks/:id", "tsweb.kind": "route" }),
      requestSpan("GET", 404, { "tsweb.kind": "other" }),
      requestSpan("HTTP /users/:id", 405, {
        ...{ "http.request.method": "_OTHER", "http.route": "/users/:id", "tsweb.kind": "page" },
      }),
    ]);
    expect(JSON.stringify(sdk.spans.map((span) => [span.name, span.attributes, span.events]))).not.toContain(SECRET);
  });

  it("has attributes of OpenTelemetry's conventions only, besides tsweb.kind", async () => {
    const { app } = await tracedApp();
    await callOverHttp(app, "fail");
    await getPage(app, "/users/7");
    const known = new Set<unknown>(Object.values(conventions));
    const names = sdk.spans.flatMap(({ attributes }) => Object.keys(attributes));
    expect(names.filter((name) => !known.has(name) && name !== "tsweb.kind")).toEqual([]);
    expect(names).toContain(conventions.ATTR_RPC_METHOD);
  });

  it("has the base in its route, and https as its scheme if users connect through HTTPS", async () => {
    const env = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_COOKIE_SECURE: "1" };
    const { app } = await tracedApp({ base: "/shop", env });
    await getPage(app, "/shop/users/7");
    expect(sdk.span("GET /shop/users/:id").attributes).toMatchObject({
      "http.route": "/shop/users/:id",
      "url.scheme": "https",
    });
  });

  it("continues the trace of the request, and its trace is that of the response and of every log line", async () => {
    const { app, lines } = await tracedApp();
    const continued = await callOverHttp(app, "fail", {}, { headers: { traceparent: TRACEPARENT } });
    const started = await callOverHttp(app, "fail");
    const spans = sdk.spans.filter(({ name }) => name === "POST /__web/rpc/fail");
    expect(spans.map((span) => span.parentSpanContext?.spanId)).toEqual([PARENT, undefined]);
    for (const [index, response] of [continued, started].entries()) {
      const { traceId, spanId } = spans[index]?.spanContext() ?? {};
      expect(response.headers.get("traceparent")).toBe(`00-${traceId}-${spanId}-01`);
      const id = response.headers.get("x-request-id");
      const own = lines.filter(({ fields }) => (fields as { id?: string }).id === id);
      expect(own.map(({ message, fields }) => [message, (fields as { trace_id?: string }).trace_id])).toEqual([
        ["The call of fail failed", traceId],
        ["Request", traceId],
      ]);
    }
    expect(spans[0]?.spanContext().traceId).toBe(TRACE);
  });

  it("is not sampled if the sampler decides so, and the trace goes on", async () => {
    unregisterSdk();
    sdk = registerSdk(new AlwaysOffSampler());
    const { app } = await tracedApp();
    const response = await callOverHttp(app, "add", { a: 1 }, { headers: { traceparent: TRACEPARENT } });
    expect(response.headers.get("traceparent")).toMatch(new RegExp(`^00-${TRACE}-(?!${PARENT})[0-9a-f]{16}-00$`));
    expect(sdk.spans).toEqual([]);
  });

  it("does not exist for health checks", async () => {
    const { app } = await tracedApp();
    for (const path of ["/healthz", "/readyz"]) expect((await getPage(app, path)).status).toBe(200);
    expect(sdk.spans).toEqual([]);
  });

  it("is the parent of the spans that the application starts, also in each step of a stream", async () => {
    const { app } = await tracedApp();
    const parents: Record<string, ReadableSpan> = {};
    await callOverHttp(app, "add", { a: 1 });
    await getPage(app, "/users/7");
    await (await getPage(app, "/hooks/7", { method: "PUT" })).text();
    const reader = (await callOverHttp(app, "numbers")).body?.getReader();
    await reader?.read();
    await reader?.read();
    await reader?.cancel();
    await expect.poll(() => sdk.spans.map(({ name }) => name)).toContain("POST /__web/rpc/numbers");
    for (const span of sdk.spans) parents[span.spanContext().spanId] = span;
    const parentOf = (name: string) => parents[sdk.span(name).parentSpanContext?.spanId ?? ""]?.name;
    expect(["query", "load", "store", "step 0", "step 1"].map(parentOf)).toEqual([
      "POST /__web/rpc/add",
      "GET /users/:id",
      "PUT /hooks/:id",
      "POST /__web/rpc/numbers",
      "POST /__web/rpc/numbers",
    ]);
  });

  it("is not the parent of work that outlives the request", async () => {
    const { app } = await tracedApp();
    await getPage(app, "/later");
    expect(sdk.span("timer").parentSpanContext).toBeUndefined();
  });

  it("ends when a stream ends, not when it starts", async () => {
    const { app } = await tracedApp();
    const reader = (await callOverHttp(app, "numbers")).body?.getReader();
    await reader?.read();
    expect(sdk.spans.map(({ name }) => name)).not.toContain("POST /__web/rpc/numbers");
    await reader?.cancel();
    expect(sdk.span("POST /__web/rpc/numbers").attributes).toMatchObject({ "tsweb.kind": "stream" });
  });

  it("is a child of the span that the host has started, and that one receives the route", async () => {
    const { app } = await tracedApp();
    const { context, createContextKey } = await import("@opentelemetry/api");
    const metadata: { type: string; route?: string } = { type: "http" };
    const key = createContextKey("OpenTelemetry SDK Context Key RPC_METADATA");
    await trace.getTracer("http").startActiveSpan("GET", async (host) => {
      await context.with(context.active().setValue(key, metadata), () =>
        getPage(app, "/users/7", { headers: { traceparent: TRACEPARENT } }),
      );
      host.end();
    });
    const span = sdk.span("GET /users/:id");
    expect([span.kind, span.parentSpanContext?.spanId]).toEqual([
      SpanKind.INTERNAL,
      sdk.span("GET").spanContext().spanId,
    ]);
    expect(metadata.route).toBe("/users/:id");
  });
});

describe("an error", () => {
  it.each(["fail", "broken_numbers"])(
    "that is unexpected is recorded once, without its fields: %s [RESPONSE-22]",
    async (name) => {
      const { app } = await tracedApp();
      await (await callOverHttp(app, name)).text();
      const { status, attributes, events } = sdk.span(`POST /__web/rpc/${name}`);
      expect([status.code, attributes["error.type"]]).toEqual([SpanStatusCode.ERROR, "DatabaseError"]);
      expect(events.map((event) => event.attributes)).toEqual([
        {
          "exception.type": "DatabaseError",
          "exception.message": "Connection lost",
          "exception.stacktrace": expect.stringContaining("tracing.test.ts"),
        },
      ]);
      expect(JSON.stringify(events)).not.toContain(SECRET);
    },
  );

  it("that is a text is recorded as such", async () => {
    const { app } = await tracedApp();
    await callOverHttp(app, "text");
    const [event] = sdk.span("POST /__web/rpc/text").events;
    expect(event?.attributes).toEqual({ "exception.type": "string", "exception.message": "The text 7" });
  });

  it.each([
    ["refuse", {}, 409],
    ["invalid", {}, 422],
    ["add", { a: "x" }, 422],
  ])("that is expected is not recorded: %s", async (name, args, status) => {
    const { app } = await tracedApp();
    expect((await callOverHttp(app, name, args)).status).toBe(status);
    const span = sdk.span(`POST /__web/rpc/${name}`);
    expect([span.status.code, span.events, span.attributes["error.type"]]).toEqual([
      SpanStatusCode.UNSET,
      [],
      undefined,
    ]);
  });

  it("is not a page that does not exist", async () => {
    const { app } = await tracedApp();
    expect((await getPage(app, "/missing")).status).toBe(404);
    expect(brief(sdk.span("GET /missing"))).toMatchObject({ status: SpanStatusCode.UNSET, events: [] });
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";
import type { App } from "../app.ts";
import { RPCError } from "../errors.ts";
import { redirect } from "../http/index.ts";
import { channel, publish } from "../live/index.ts";
import { requireInternals } from "../server/index.ts";
import type { ChangedPart, RequestEntry } from "./panel-data.ts";
import { MAX_MESSAGES, MAX_REQUESTS, Recorder } from "./recorder.ts";

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
});
afterEach(() => void vi.restoreAllMocks());

const ANY = { type: "any" } as const;

const MODULE = {
  add: compiledServer("add", (a: number, b: number) => a + b, { params: { a: "int", b: "int" } }),
  signIn: compiledServer("signIn", async (_name: string, _password: string) => "in", {
    params: { name: ANY, password: ANY },
  }),
  keyed: compiledServer("keyed", ({ q }: { q: string; token: string }) => q, {
    keyed: true,
    params: { q: ANY, token: ANY },
  }),
  count: compiledServer(
    "count",
    function* () {
      yield 1;
      yield 2;
    },
    { stream: true },
  ),
  failingStream: compiledServer(
    "failingStream",
    async function* () {
      yield 1;
      throw new Error("half");
    },
    { stream: true },
  ),
  fail: compiledServer("fail", () => {
    throw new Error("on purpose");
  }),
  failLater: compiledServer("failLater", async () => {
    throw new RPCError("conflict", "taken");
  }),
  leave: compiledServer("leave", () => {
    throw redirect("/orders/1");
  }),
  reject: compiledServer(
    "reject",
    async (fields: readonly { value: string }[], password: string) => {
      if (password === "wrong-1") throw new RPCError("conflict", `${password} is wrong, ${fields[0]?.value}`);
      throw new Error(`Cannot store ${password}`, { cause: fields });
    },
    { params: { fields: ANY, password: ANY } },
  ),
  announce: compiledServer("announce", async (text: string) => publish("news", { text, token: "t0p" }), {
    params: { text: ANY },
  }),
  insert: compiledServer("insert", () => new LazyQuery()),
  insertMany: compiledServer(
    "insertMany",
    function* () {
      yield new LazyQuery();
      return new LazyQuery(); // nobody awaits what a stream returns
    },
    { stream: true },
  ),
  order: compiledPage("/orders/:id", ({ id }) => id),
  reset: compiledPage("/reset/:token", () => "reset"),
  broken: compiledPage("/broken", () => {
    throw new Error("page");
  }),
  feed: compiledRoute("GET /feed", async () => new Response(await channel("news"))),
  expired: compiledPage("/expired/:token", ({ token }) => {
    throw new Error(`The token ${token} has expired`);
  }),
  download: compiledRoute("GET /download", () => new Response(new Blob(["text"]).stream())),
  hook: compiledRoute("POST /hooks/:name", () => new Response("no", { status: 418 })),
};

/** A query as of a database library: it is executed whenever it is awaited. */
class LazyQuery {
  static executions = 0;
  // biome-ignore lint/suspicious/noThenProperty: it imitates such a query
  then(resolve: (value: number) => unknown): void {
    LazyQuery.executions++;
    resolve(LazyQuery.executions);
  }
}

function record() {
  const changes: ChangedPart[] = [];
  const explain = async (error: unknown) => {
    if (!(error instanceof Error)) throw new Error("not explained");
    return { type: error.name, message: error.message, location: "src/a.server.ts:1:1", frame: "", stack: "at a" };
  };
  const recorder = new Recorder({ explain, onChange: (part) => changes.push(part) });
  const app = createTestApp(MODULE, { base: "/shop" });
  setDevelopment(app, { observer: recorder });
  return { recorder, app, changes, entries: () => recorder.requestsSince(0).entries };
}

const send = (app: App, path: string, init: RequestInit = {}) =>
  app.fetch(new Request(`http://localhost/shop${path}`, init), { address: "127.0.0.1" });

const call = (app: App, name: string, args: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  send(app, `/__web/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ args }),
  });

/** The members of an entry that do not depend on time. */
const brief = ({ method, path, kind, target, status, args, values }: RequestEntry) => ({
  method,
  path,
  kind,
  target,
  status,
  args,
  values,
});

describe("the recorder", () => {
  it("records a call with its function, arguments, status, duration and request id", async () => {
    const { app, entries } = record();
    const response = await call(app, "add", { a: "1", b: 2 });
    expect(await response.json()).toEqual({ result: 3 });
    const [entry] = entries();
    expect(entry).toEqual({
      id: 1,
      requestId: response.headers.get("x-request-id"),
      time: expect.any(Number),
      method: "POST",
      path: "/shop/__web/rpc/add",
      kind: "call",
      target: "add",
      args: [
        ["a", "1"],
        ["b", "2"],
      ],
      status: 200,
      durationMs: expect.any(Number),
      values: null,
      isPrefetch: false,
      refusal: null,
      error: null,
    });
  });

  it("hides the arguments that are named like secrets, by position and by key", async () => {
    const { app, entries } = record();
    await call(app, "signIn", { name: "Ada", password: "hunter2" });
    await call(app, "keyed", { q: "tea", token: "t0p-secret" });
    expect(entries().map(({ args }) => args)).toEqual([
      [
        ["name", '"Ada"'],
        ["password", '"[redacted]"'],
      ],
      [
        ["q", '"tea"'],
        ["token", '"[redacted]"'],
      ],
    ]);
    expect(JSON.stringify(entries())).not.toMatch(/hunter2|t0p-secret/);
  });

  it("hides the secrets that an error repeats, of arguments and of the URL [DEV-13]", async () => {
    const { app, entries } = record();
    const fields = [{ name: "otp", value: "998877" }];
    await call(app, "reject", { fields, password: "wrong-1" });
    await call(app, "reject", { fields, password: "hunter2" });
    await send(app, "/expired/abc-def");
    await expect
      .poll(() => entries().map(({ error }) => error?.message))
      .toEqual(["[redacted] is wrong, [redacted]", "Cannot store [redacted]", "The token [redacted] has expired"]);
    expect(entries()[0]?.refusal?.message).toBe("[redacted] is wrong, [redacted]");
    expect(JSON.stringify(entries())).not.toMatch(/wrong-1|998877|hunter2|abc-def/);
  });

  it("records pages, routes, forms and unknown paths, without the secrets in their URLs", async () => {
    const { app, entries } = record();
    await send(app, "/orders/7?token=abc&q=1");
    await send(app, "/reset/abc");
    await send(app, "/hooks/stripe", { method: "POST", body: "x" });
    await send(app, "/nowhere");
    await app.fetch(new Request("http://localhost/elsewhere%zz"));
    const none = { args: null, values: null };
    expect(entries().map(brief)).toEqual([
      {
        method: "GET",
        path: "/shop/orders/7?token=[redacted]&q=1",
        kind: "page",
        target: "/orders/:id",
        status: 200,
        ...none,
      },
      { method: "GET", path: "/shop/reset/[redacted]", kind: "page", target: "/reset/:token", status: 200, ...none },
      { method: "POST", path: "/shop/hooks/stripe", kind: "route", target: "/hooks/:name", status: 418, ...none },
      { method: "GET", path: "/shop/nowhere", kind: "other", target: "", status: 404, ...none },
      { method: "GET", path: "/elsewhere%zz", kind: "other", target: "", status: 400, ...none },
    ]);
  });

  it("records the error that a function throws, and what the caller received", async () => {
    const { app, entries } = record();
    await call(app, "fail");
    await call(app, "failLater");
    await expect.poll(() => entries().map(({ error }) => error?.message)).toEqual(["on purpose", "taken"]);
    expect(entries().map(({ status, refusal }) => [status, refusal?.code])).toEqual([
      [500, "internal"],
      [409, "conflict"],
    ]);
  });

  it("records the error of a page", async () => {
    const { app, entries } = record();
    expect((await send(app, "/broken")).status).toBe(500);
    await expect.poll(() => entries()[0]?.error?.message).toBe("page");
  });

  it("records why a call was refused before its function ran", async () => {
    const { app, entries } = record();
    await call(app, "add", { a: "x", b: 2 });
    expect(entries()[0]).toMatchObject({ status: 422, args: null, refusal: { code: "validation_error" }, error: null });
  });

  it("records the errors of two requests with one id for the later one, and no redirect as an error", async () => {
    const { app, entries } = record();
    await call(app, "leave", {}, { "x-request-id": "same" });
    await call(app, "fail", {}, { "x-request-id": "same" });
    await expect.poll(() => entries().map(({ error }) => error?.message)).toEqual([undefined, "on purpose"]);
  });

  it("records the values of a stream, and its duration when it has ended", async () => {
    const { app, entries } = record();
    const response = await call(app, "count");
    expect(entries()[0]).toMatchObject({ status: 200, durationMs: null });
    expect(await response.text()).toBe('{"chunk":1}\n{"chunk":2}\n{"done":true}\n');
    await expect.poll(() => entries()[0]).toMatchObject({ values: 2, durationMs: expect.any(Number), error: null });
  });

  it("records the error of a stream, and the end of one whose client disconnects", async () => {
    const { app, entries } = record();
    await (await call(app, "failingStream")).text();
    const left = await call(app, "count");
    await left.body?.cancel();
    await expect.poll(() => entries()[0]).toMatchObject({ values: 1, error: { message: "half" } });
    await expect.poll(() => entries()[1]?.durationMs).toEqual(expect.any(Number));
  });

  it("records an event stream as open until its client disconnects, and then its duration", async () => {
    const { app, entries, changes } = record();
    const feed = await (await send(app, "/feed")).text();
    const response = await send(app, `/__web/live?feed=${feed}`);
    expect(entries()[1]).toMatchObject({ kind: "live", status: 200, durationMs: null });
    changes.length = 0;
    const later = performance.now() + 60_000;
    vi.spyOn(performance, "now").mockReturnValue(later);
    await response.body?.cancel();
    expect(entries()[1]?.durationMs).toBeGreaterThanOrEqual(60_000);
    expect(changes).toEqual(["requests", "live"]);
    await app.close();
  });

  it("records a stream of a route as open until it was read", async () => {
    const { app, entries } = record();
    const reader = (await send(app, "/download")).body?.getReader();
    expect(entries()[0]).toMatchObject({ status: 200, durationMs: null });
    await reader?.read();
    expect(await reader?.read()).toMatchObject({ done: true });
    await expect.poll(() => entries()[0]?.durationMs).toEqual(expect.any(Number));
  });

  it("records a poll as open while it waits", async () => {
    const { app, entries } = record();
    const feed = await (await send(app, "/feed")).text();
    const response = send(app, `/__web/poll?feed=${feed}&wait=25`);
    await expect.poll(() => requireInternals(app, "test").liveConnections()).toHaveLength(1);
    expect(entries()[1]).toMatchObject({ kind: "live", status: null, durationMs: null });
    await call(app, "announce", { text: "hello" });
    expect((await response).status).toBe(200);
    expect(entries()[1]).toMatchObject({ status: 200, durationMs: expect.any(Number) });
    await app.close();
  });

  it("records a value that is thrown and cannot be explained", async () => {
    const { recorder, app, entries } = record();
    await call(app, "add", { a: 1, b: 2 });
    recorder.failed(entries()[0]?.requestId ?? "", "a text");
    await expect.poll(() => entries()[0]?.error?.message).toBe("Error: not explained");
  });

  it("records published messages without their secrets", async () => {
    const { recorder, app, changes } = record();
    await call(app, "announce", { text: "hello" });
    expect(recorder.messages).toEqual([
      { id: 1, time: expect.any(Number), channel: "news", json: '{"text":"hello","token":"[redacted]"}', bytes: 30 },
    ]);
    expect(changes).toContain("live");
    recorder.clearMessages();
    expect(recorder.messages).toEqual([]);
    await app.close();
  });

  it("returns only the requests that have changed since a version", async () => {
    const { recorder, app } = record();
    await call(app, "add", { a: 1, b: 2 });
    const { version } = recorder.requestsSince(0);
    expect(recorder.requestsSince(version).entries).toEqual([]);
    await call(app, "add", { a: 3, b: 4 });
    expect(recorder.requestsSince(version).entries.map(({ id }) => id)).toEqual([2]);
  });

  it("keeps the latest requests and messages only", async () => {
    const { recorder, app, entries } = record();
    for (let n = 0; n < MAX_REQUESTS + 3; n++) await send(app, "/nowhere");
    for (let n = 0; n < MAX_MESSAGES + 2; n++) recorder.published("news", String(n));
    expect([entries().length, recorder.requestsSince(0).firstId, entries()[0]?.id]).toEqual([MAX_REQUESTS, 4, 4]);
    expect([recorder.messages.length, recorder.messages[0]?.json]).toEqual([MAX_MESSAGES, "2"]);
  });

  it("removes all requests, and continues to count", async () => {
    const { recorder, app } = record();
    await send(app, "/nowhere");
    recorder.clearRequests();
    expect(recorder.requestsSince(0)).toMatchObject({ firstId: 2, entries: [] });
    await send(app, "/nowhere");
    expect(recorder.requestsSince(0).entries.map(({ id }) => id)).toEqual([2]);
  });

  it("is not called any more when the application is used without it", async () => {
    const { app, entries } = record();
    setDevelopment(app);
    await call(app, "fail");
    await call(app, "announce", { text: "hello" });
    expect(entries()).toEqual([]);
    await app.close();
  });

  it.each(["insert", "insertMany"])("executes the query that a function returns or yields once: %s", async (name) => {
    const { app, recorder } = record();
    for (const observer of [undefined, recorder]) {
      LazyQuery.executions = 0;
      setDevelopment(app, { observer });
      expect(await (await call(app, name)).text()).toContain("1");
      expect(LazyQuery.executions).toBe(1);
    }
  });

  it("changes no response: results, errors, redirects and streams are those without it", async () => {
    const { app: observed } = record();
    const plain = createTestApp(MODULE, { base: "/shop" });
    setDevelopment(plain);
    const answer = async (app: App, name: string, args: object) => {
      const response = await call(app, name, args, { "x-request-id": "fixed" });
      return [response.status, response.headers.get("x-redirect"), await response.text()];
    };
    for (const [name, args] of Object.entries({
      ...{ add: { a: 1, b: 2 }, signIn: { name: "a", password: "b" }, keyed: { q: "a", token: "b" }, count: {} },
      ...{ failingStream: {}, fail: {}, failLater: {}, leave: {} },
    })) {
      expect(await answer(observed, name, args)).toEqual(await answer(plain, name, args));
    }
  });
});

import { afterEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import { callOverHttp, compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import type { App } from "../app.ts";
import { RPCError } from "../errors.ts";
import { memoryRateStore, StoreUnavailableError } from "../rate-limit/index.ts";
import { createLimit, type LimitState, limit } from "./limit.ts";

const DAY = { calls: 10, seconds: 86_400 };

const apps: App[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const app of apps.splice(0)) await app.close();
});

function openApp(module: Record<string, unknown> = { ping: compiledServer("ping", () => 1) }): App {
  const app = createTestApp(module, { rate: false });
  apps.push(app);
  return app;
}

/** A limit with a clock of the test. */
function openLimit() {
  const clock = { ms: 1_000_000_000 };
  const store = memoryRateStore({ now: () => clock.ms });
  return { limit: createLimit(() => store), clock };
}

describe("limit", () => {
  it("counts one call under a key, and returns what is left", async () => {
    const { limit, clock } = openLimit();
    expect(await limit("a", DAY)).toEqual({ left: 9, retry_after: 0, reset_after: expect.any(Number) });
    for (let call = 0; call < 8; call++) await limit("a", DAY);
    const last = await limit("a", DAY);
    expect(last.left).toBe(0);
    expect(last.retry_after).toBeGreaterThan(86_400 - 1);
    expect(last.retry_after).toBeLessThanOrEqual(87_840);
    expect((await limit("b", DAY)).left).toBe(9);
    clock.ms += last.retry_after * 1000;
    expect((await limit("a", DAY)).left).toBe(9);
  });

  it("throws rate_limited with the wait if nothing is left, and counts nothing then [LIMIT-1]", async () => {
    const { limit, clock } = openLimit();
    for (let call = 0; call < 10; call++) await limit("a", DAY);
    const error = await limit("a", DAY).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RPCError);
    const { retry_after } = await limit.peek("a", DAY);
    expect(error).toMatchObject({ code: "rate_limited", details: { retry_after } });
    expect(String(error)).toMatch(/The limit is reached\. Try again in 2[45] hours\.$/);
    for (let call = 0; call < 50; call++) await expect(limit("a", DAY)).rejects.toThrow();
    clock.ms += retry_after * 1000;
    expect((await limit("a", DAY)).left).toBe(9);
  });

  it("accepts a cost as long as anything is left, in full, and then refuses the next one [LIMIT-2]", async () => {
    const { limit } = openLimit();
    expect((await limit("a", { ...DAY, cost: 9 })).left).toBe(1);
    expect((await limit("a", { ...DAY, cost: 500 })).left).toBe(0);
    await expect(limit("a", DAY)).rejects.toMatchObject({ code: "rate_limited" });
    await expect(limit("a", { ...DAY, cost: 0 })).rejects.toMatchObject({ code: "rate_limited" });
  });

  it("charges a cost that is known afterwards above the limit, without refusing it [LIMIT-4]", async () => {
    const { limit } = openLimit();
    expect((await limit("a", { ...DAY, cost: 0 })).left).toBe(10);
    expect(await limit.charge("a", { ...DAY, cost: 25 })).toMatchObject({ left: 0 });
    expect(await limit.charge("a", { ...DAY, cost: 25 })).toMatchObject({ left: 0 });
    await expect(limit("a", { ...DAY, cost: 0 })).rejects.toMatchObject({ code: "rate_limited" });
  });

  it("shows what is left without counting", async () => {
    const { limit } = openLimit();
    for (let look = 0; look < 3; look++) {
      expect(await limit.peek("a", DAY)).toEqual({ left: 10, retry_after: 0, reset_after: 0 });
    }
    await limit("a", DAY);
    expect((await limit.peek("a", DAY)).left).toBe(9);
    expectTypeOf(limit.peek).returns.resolves.toEqualTypeOf<LimitState>();
  });

  it("shares the counts of a key and a span, whatever the number of calls, as when a plan is changed", async () => {
    const { limit } = openLimit();
    for (let call = 0; call < 10; call++) await limit("a", DAY);
    expect((await limit("a", { ...DAY, calls: 500 })).left).toBe(489);
    expect((await limit("a", { ...DAY, seconds: 60 })).left).toBe(9);
  });

  it("accepts exactly as many of concurrent calls as are left", async () => {
    const { limit } = openLimit();
    const results = await Promise.allSettled(Array.from({ length: 40 }, () => limit("a", DAY)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  });

  it.each([
    [
      "",
      'limit(): the key must be a non-empty string, such as "ask:" + session.require().sub. Received: an empty string.',
    ],
    [
      undefined,
      'limit(): the key must be a non-empty string, such as "ask:" + session.require().sub. Received: undefined.',
    ],
    [null, "Received: null."],
  ])("rejects the key %j: everybody would share its count", async (key, message) => {
    await expect(openLimit().limit(key as string, DAY)).rejects.toThrow(message);
  });

  it.each([
    [undefined, TypeError, "The options of limit() must be an object"],
    [{ calls: 5 }, RangeError, "Invalid options.seconds in limit(): undefined."],
    [{ ...DAY, calls: -1 }, RangeError, "Invalid options.calls in limit(): -1. Use a whole number from 1."],
    [{ ...DAY, cost: -1 }, RangeError, "Invalid options.cost in limit(): -1. Use a whole number from 0."],
    [{ ...DAY, cost: 1.5 }, RangeError, "Invalid options.cost in limit(): 1.5."],
    [{ ...DAY, cost: Number.NaN }, RangeError, "Invalid options.cost in limit(): NaN."],
    [{ ...DAY, costs: 2 }, TypeError, "Unknown option costs in limit(). Valid options: calls, seconds, strict, cost."],
    [{ ...DAY, strict: "yes" }, TypeError, "Invalid options.strict in limit(): it is of type string."],
  ])("rejects the options %j", async (options, type, message) => {
    const rejection = expect(openLimit().limit("a", options as never)).rejects;
    await rejection.toThrow(type);
    await expect(openLimit().limit("a", options as never)).rejects.toThrow(message);
  });

  it("throws an error with status 503 if it is strict and the shared count is unreachable [LIMIT-3]", async () => {
    const unreachable = createLimit(() => ({
      take: () => null,
      use: () => Promise.reject(new StoreUnavailableError("The count that processes share is unreachable.")),
    }));
    for (const use of [unreachable, unreachable.charge, unreachable.peek]) {
      await expect(use("a", { ...DAY, strict: true })).rejects.toMatchObject({ code: "internal", status: 503 });
    }
  });
});

describe("limit in an application", () => {
  const ask = compiledServer("ask", () => limit("ask", { calls: 2, seconds: 60 }));
  const read = compiledRoute("GET /ask", async () => Response.json(await limit("ask", { calls: 2, seconds: 60 })));
  const page = compiledPage("/page", async () => String((await limit("page", { calls: 1, seconds: 60 })).left));
  const module = { ask, read, page };

  it("responds with 429 and Retry-After, in functions and routes, which share the count", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const app = openApp(module);
    expect(await (await callOverHttp(app, "ask")).json()).toMatchObject({ result: { left: 1 } });
    expect((await app.fetch(new Request("http://shop.example/ask"))).status).toBe(200);
    for (const response of [await callOverHttp(app, "ask"), await app.fetch(new Request("http://shop.example/ask"))]) {
      expect(response.status).toBe(429);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(58);
      expect(await response.json()).toMatchObject({ error: { code: "rate_limited" } });
    }
  });

  it("shows the error page with 429 and Retry-After", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const app = openApp(module);
    const get = () => app.fetch(new Request("http://shop.example/page"));
    expect((await get()).status).toBe(200);
    const refused = await get();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(58);
    expect(await refused.text()).toContain("The limit is reached. Try again in 6");
  });

  it("counts for the application of the request, and outside a request for the only one", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const one = openApp(module);
    const job = await limit("ask", { calls: 2, seconds: 60 });
    expect(job.left).toBe(1);
    expect((await callOverHttp(one, "ask")).status).toBe(200);
    expect((await callOverHttp(one, "ask")).status).toBe(429);
    const two = openApp(module);
    expect((await callOverHttp(two, "ask")).status).toBe(200);
    await expect(limit("ask", { calls: 2, seconds: 60 })).rejects.toThrow(
      "limit() was called outside a request, and this process has 2 applications. Call app.limit() of the application",
    );
    expect((await two.limit("ask", { calls: 2, seconds: 60 })).left).toBe(0);
    expect((await one.limit.peek("ask", { calls: 2, seconds: 60 })).left).toBe(0);
  });

  it("counts without an application, for example in a test of a function", async () => {
    const key = `alone ${Math.random()}`;
    expect((await limit(key, { calls: 2, seconds: 60 })).left).toBe(1);
    expect((await limit(key, { calls: 2, seconds: 60 })).left).toBe(0);
    await expect(limit(key, { calls: 2, seconds: 60 })).rejects.toMatchObject({ code: "rate_limited" });
  });
});

/** `limit` in two processes that share a Redis: while it is reachable, and while it is not. */
import { afterEach, expect, it } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { recordedLog } from "#test/recorded-log";
import { RedisServer } from "#test/redis-server";
import type { App } from "../../src/app.ts";

const DAY = { calls: 10, seconds: 86_400 };

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Opens an application as a process would: the path makes its URL another one, so that it has a connection of its own. */
async function openApp(server: RedisServer, path = ""): Promise<App> {
  const app = createTestApp(
    { ping: compiledServer("ping", () => 1) },
    {
      rate: false,
      log: recordedLog().log,
      env: { WEB_AUTH_SECRET: "5a".repeat(32), WEB_BUS_URL: `${server.url}${path}?namespace=shop` },
    },
  );
  cleanups.push(() => app.close());
  await app.start();
  return app;
}

async function accepted(apps: readonly App[], count: number, options: Parameters<App["limit"]>[1]): Promise<number> {
  const calls = Array.from({ length: count }, (_, at) => apps[at % apps.length]?.limit("ask:ada", options));
  const results = await Promise.allSettled(calls);
  for (const result of results) {
    if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "rate_limited" });
  }
  return results.filter(({ status }) => status === "fulfilled").length;
}

it("two processes accept exactly what one limit allows, count costs above it, and outlive a restart of both", async () => {
  const server = await RedisServer.start({ appendOnly: true });
  cleanups.push(() => server.stop());
  const apps = [await openApp(server), await openApp(server, "/0")];
  expect(await accepted(apps, 40, { ...DAY, strict: true })).toBe(10);
  const [one, two] = apps as [App, App];
  await one.limit.charge("words:ada", { ...DAY, cost: 25 });
  await expect(two.limit("words:ada", { ...DAY, strict: true })).rejects.toMatchObject({ code: "rate_limited" });
  for (const app of apps) await app.close();
  const later = await openApp(server);
  expect((await later.limit.peek("ask:ada", { ...DAY, strict: true })).left).toBe(0);
  const keys = await server.client().keys("*limit*");
  expect(keys.sort()).toEqual([
    expect.stringMatching(/^tsweb:\{shop\}:limit:86400000:key:[\w-]{22}$/),
    expect.stringMatching(/^tsweb:\{shop\}:limit:86400000:key:[\w-]{22}$/),
  ]);
});

it("while Redis is unreachable, each process counts for itself, or fails with 503 if the limit is strict [LIMIT-5]", async () => {
  const server = await RedisServer.start({ appendOnly: true });
  cleanups.push(() => server.stop());
  const apps = [await openApp(server), await openApp(server, "/0")];
  const [one] = apps as [App, App];
  await one.limit("other", DAY);
  await server.kill();
  await expect(one.limit("ask:ada", { ...DAY, strict: true })).rejects.toMatchObject({ status: 503 });
  await expect(one.limit.charge("ask:ada", { ...DAY, strict: true })).rejects.toMatchObject({ status: 503 });
  expect(await accepted(apps, 60, DAY)).toBe(20);
  await server.restart();
  await expect
    .poll(() => one.limit.peek("other", { ...DAY, strict: true }).catch(() => null))
    .toMatchObject({ left: 9 });
});

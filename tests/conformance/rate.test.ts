import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { RedisServer } from "#test/redis-server";
import { singleLimit } from "#test/single-limit";
import { type OpenedConnection, openRedisConnection } from "../../src/backends/redis/client/index.ts";
import { redisRateStore } from "../../src/backends/redis/rate-store.ts";
import { memoryRateStore } from "../../src/rate-limit/index.ts";
import { type Clock, rateStoreTests, WINDOW_START } from "./rate.ts";

let server: RedisServer;
let cluster: RedisServer;
let opened: OpenedConnection;
let openedCluster: OpenedConnection;
const { log, lines } = recordedLog();

beforeAll(async () => {
  server = await RedisServer.start();
  opened = openRedisConnection(server.url, log);
  cluster = await RedisServer.start({ clusterSlots: [0, 16_383] });
  await cluster.formCluster();
  openedCluster = openRedisConnection(cluster.url, log);
});

afterAll(async () => {
  await opened?.close();
  await openedCluster?.close();
  await server?.stop();
  await cluster?.stop();
  expect(lines).toEqual([]);
});

let openStores = 0;

/** Opens a store in Redis with keys that no other test uses. */
function openRedis(clock?: Clock, { connection } = opened) {
  const id = ++openStores;
  return redisRateStore(connection, {
    keyPrefix: `{test ${id}}:`,
    ...(clock ? { now: () => clock.ms } : {}),
  });
}

rateStoreTests("in memory", (clock) => memoryRateStore({ now: () => clock.ms }));
rateStoreTests("in Redis", openRedis);
rateStoreTests("in a Redis cluster", (clock) => openRedis(clock, openedCluster));

describe("the rate stores in memory and in Redis", () => {
  it("return exactly the same wait", async () => {
    // The clock is never set back here: then the memory store stays in one window for all clients, and the store in
    // Redis in one window for each client.
    const step = fc.record({
      ms: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 200_000 })),
      calls: fc.integer({ min: 1, max: 6 }),
    });
    const rate = fc.record({
      calls: fc.integer({ min: 1, max: 12 }),
      seconds: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.double({ min: 1, max: 60, noNaN: true })),
    });
    await fc.assert(
      fc.asyncProperty(rate, fc.array(step, { minLength: 1, maxLength: 20 }), async (rate, steps) => {
        const clock = { ms: WINDOW_START + 12_345 };
        const memory = singleLimit(memoryRateStore({ now: () => clock.ms }), rate);
        const redis = singleLimit(openRedis(clock), rate);
        for (const { ms, calls } of steps) {
          clock.ms += ms;
          for (let call = 0; call < calls; call++) expect(await redis.take("a")).toBe(memory.take("a"));
        }
      }),
    );
  });
});

describe("the rate store in Redis, with the clock of Redis", () => {
  it("accepts exactly 120 of 200 concurrent calls of two processes", async () => {
    const other = openRedisConnection(`${server.url}/0`, log); // another URL of the same Redis has its own connection
    const [one, two] = [
      singleLimit(redisRateStore(opened.connection, { keyPrefix: "{both}:" }), { calls: 120, seconds: 60 }),
      singleLimit(redisRateStore(other.connection, { keyPrefix: "{both}:" }), { calls: 120, seconds: 60 }),
    ];
    const waits = await Promise.all(Array.from({ length: 200 }, (_, at) => (at % 2 ? one : two).take("both")));
    await other.close();
    expect(waits.filter((wait) => wait === 0)).toHaveLength(120);
    for (const wait of waits) expect(wait).toBeLessThanOrEqual(61);
  });

  it("returns a wait of at most 61 sixtieths of the span, after which it accepts calls again", async () => {
    const store = singleLimit(openRedis(), { calls: 5, seconds: 1 });
    const waits = await Promise.all(Array.from({ length: 20 }, () => store.take("a")));
    expect(Math.max(...waits)).toBeGreaterThan(0);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1.017);
    await expect.poll(() => store.take("a")).toBe(0);
  });

  it("sets an expiry of at most 61 sixtieths of the span on every key, and starts its name with the prefix", async () => {
    const client = server.client();
    await client.flushall();
    const store = singleLimit(openRedis(), { calls: 5, seconds: 1 });
    for (let at = 0; at < 100; at++) await store.take(`client ${at}`);
    for (const key of await client.keys("*")) {
      const left = await client.pttl(key); // -2: the key has expired already
      expect(left === -2 || (left > 0 && left <= 1017), key).toBe(true);
      expect(key).toMatch(/^\{test \d+\}:limit:1000:test:client \d+$/);
    }
    await vi.waitFor(async () => expect(await client.keys("*")).toEqual([]), { timeout: 30_000 });
  });

  it("counts in the longest span, a year", async () => {
    const store = singleLimit(openRedis(), { calls: 1, seconds: 31_536_000 });
    expect(await store.take("a")).toBe(0);
    expect(await store.take("a")).toBeGreaterThan(31_536_000);
  });

  it("continues after the script cache of Redis was flushed", async () => {
    const client = server.client();
    const store = singleLimit(openRedis(), { calls: 2, seconds: 60 });
    expect(await store.take("a")).toBe(0);
    await client.script("FLUSH");
    expect(await store.take("a")).toBe(0);
    expect(await store.take("a")).toBeGreaterThan(0);
  });

  it("makes one round trip for a call, and writes nothing for a refused call", async () => {
    const client = server.client();
    const store = singleLimit(openRedis(), { calls: 1, seconds: 60 });
    await store.take("warm");
    await client.config("RESETSTAT");
    for (let call = 0; call < 10; call++) await store.take("a");
    const stats = await client.info("commandstats");
    const calls = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    expect({ evalsha: calls("evalsha"), eval: calls("eval"), set: calls("set") }).toEqual({
      evalsha: 10,
      eval: 0,
      set: 1,
    });
  });
});

/** A bus and a rate limit that find their Redis through Sentinel, and its fail-over. */
import { afterEach, describe, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { PRIMARY_NAME, RedisSentinel, type RedisSentinelOptions } from "#test/redis-sentinel";
import { RedisServer, redisHasTls } from "#test/redis-server";
import { singleLimit } from "#test/single-limit";
import { trustCertificate } from "#test/trusted-certificate";
import { openRateStore } from "../../src/backends/index.ts";
import { redis } from "../../src/backends/redis/bus.ts";
import { ConfigError } from "../../src/config/index.ts";
import { endOf, readAll, TestSubscriber, whenResponding } from "../conformance/bus.ts";

const LIMIT = { messages: 100, bytes: 100_000 };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: RedisSentinelOptions = {}, password?: string) {
  const common = { appendOnly: true, ...(password === undefined ? {} : { password }) };
  const primary = await RedisServer.start(common);
  cleanups.push(() => primary.stop());
  const sentinel = await RedisSentinel.start(primary, options);
  cleanups.push(() => sentinel.stop());
  return { primary, sentinel };
}

function open(url: string) {
  const { log, lines } = recordedLog();
  const bus = redis({ url, namespace: "shop", log });
  cleanups.push(() => bus.close());
  return { bus, lines, reasons: () => lines.map(({ fields }) => "reason" in fields && fields.reason) };
}

describe("a Redis that Sentinel names", () => {
  it("is used by the bus and the rate limit with TLS; after a fail-over they use the promoted replica, and positions get a gap", async () => {
    const certificate = redisHasTls ? trustCertificate() : undefined;
    cleanups.push(() => certificate?.remove());
    const primary = await RedisServer.start({ appendOnly: true, certificate });
    cleanups.push(() => primary.stop());
    const replica = await RedisServer.start({ appendOnly: true, certificate, replicaOf: primary });
    cleanups.push(() => replica.stop());
    await replica.synchronize(primary);
    const sentinel = await RedisSentinel.start(primary, { certificate });
    cleanups.push(() => sentinel.stop());
    await sentinel.know(1, 0);
    const url = `${certificate ? "rediss" : "redis"}://127.0.0.1:1,127.0.0.1:${sentinel.port}?sentinel=${PRIMARY_NAME}`;
    const { bus } = open(url);
    const rate = openRateStore({ redis: () => ({ url, namespace: "shop" }), log: recordedLog().log });
    const { take } = singleLimit(rate, { calls: 1, seconds: 60 });
    cleanups.push(() => rate.close());
    const subscriber = await TestSubscriber.start(bus, "a");
    const from = await endOf(bus, "a");
    await bus.publish("a", "1");
    await expect.poll(() => subscriber.received.map(({ data }) => data)).toEqual(["1"]);
    await rate.start();
    expect(await take("a")).toBe(0);
    await replica.synchronize(primary);
    await primary.kill();
    await expect.poll(() => bus.publish("a", "2").then(() => true, String), { timeout: 60_000 }).toBe(true);
    expect(await whenResponding(() => bus.read("a", from, LIMIT))).toMatchObject({ gap: true, reset: true });
    await expect.poll(() => subscriber.gaps).toBe(1);
    const after = await endOf(bus, "a");
    await bus.publish("a", "3");
    expect((await readAll(bus, "a", after)).map(({ data }) => data)).toEqual(["3"]);
    await expect.poll(() => subscriber.received.map(({ data }) => data).at(-1)).toBe("3");
    // The count of before the fail-over, which the replica has received.
    await expect.poll(() => take("a")).toBeGreaterThan(0);
    subscriber.stop();
    if (!certificate) return;
    expect([...certificate.verifiedHosts]).toEqual(["127.0.0.1"]);
    certificate.isTrusted = false;
    const untrusted = open(`rediss://127.0.0.1:${sentinel.port}?sentinel=${PRIMARY_NAME}`); // with a connection of its own
    await expect(untrusted.bus.position([])).rejects.toThrow(/No Sentinel is reachable: .*NODE_EXTRA_CA_CERTS/);
  });

  it("is used with its password, and Sentinel with its own, both of which no log line contains", async () => {
    const { sentinel } = await start({ password: "sentinel-mellon" }, "redis-mellon");
    const url = `redis://:redis-mellon@127.0.0.1:${sentinel.port}/1?sentinel=${PRIMARY_NAME}`;
    const { bus, lines } = open(`${url}&sentinel_password=sentinel-mellon`);
    await bus.publish("a", "1");
    const refused = open(url);
    await expect(refused.bus.position([])).rejects.toThrow(/The Sentinels require a password. Add &sentinel_password=/);
    expect(refused.lines.length).toBeGreaterThan(0);
    expect(JSON.stringify([lines, refused.lines])).not.toContain("mellon");
  });
});

describe("a mistake in the URL of a Sentinel", () => {
  it("is an error with the fix: no name, a name that it does not know, an unreachable Sentinel", async () => {
    const { sentinel } = await start();
    const url = `redis://127.0.0.1:${sentinel.port}`;
    const missing = await open(url)
      .bus.publish("a", "1")
      .catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(ConfigError);
    expect(String(missing)).toMatch(/is the URL of a Redis Sentinel, .* End the URL with the name/s);
    const unknown = open(`${url}?sentinel=other`);
    await expect(unknown.bus.position([])).rejects.toThrow('The Sentinels know no primary "other"');
    expect(unknown.reasons()[0]).toMatch(/know no primary "other". Correct \?sentinel= in WEB_BUS_URL/);
    const unreachable = open("redis://127.0.0.1:1?sentinel=shop");
    await expect(unreachable.bus.position([])).rejects.toThrow(/No Sentinel is reachable: .*127\.0\.0\.1:1/);
    expect(() => open(`${url}?sentinel=`)).toThrow(/parameter sentinel without the name/);
  });
});

/**
 * The bus in Redis, beyond the contract of all buses: its keys, several applications on one Redis, and a Redis
 * that is not configured for it.
 */

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { atMost } from "#test/read-limit";
import { recordedLog } from "#test/recorded-log";
import { RedisServer } from "#test/redis-server";
import type { Bus } from "../../src/backends/index.ts";
import { type RedisOptions, redis } from "../../src/backends/redis/bus.ts";
import { expectSeparate } from "./bus/separate-buses.ts";
import { endOf, readAll, TestSubscriber } from "./bus.ts";

let server: RedisServer;
const openBuses: Bus[] = [];

beforeAll(async () => {
  server = await RedisServer.start({ appendOnly: true });
});

afterEach(async () => {
  for (const bus of openBuses.splice(0)) await bus.close();
  await server.client().flushall();
});

afterAll(() => server?.stop());

function open(options: Partial<RedisOptions> = {}) {
  const { log, lines } = recordedLog();
  const bus = redis({ url: server.url, log, ...options });
  openBuses.push(bus);
  return { bus, lines };
}

const texts = (messages: readonly { readonly data: string }[]) => messages.map(({ data }) => data);

describe("the bus in Redis", () => {
  it("sets an expiry on every key except the epoch", async () => {
    const { bus } = open();
    await bus.publish("a", "1");
    await bus.position(["b", "c"]);
    const client = server.client();
    const keys = await client.keys("*");
    const withoutExpiry: string[] = [];
    for (const key of keys) if ((await client.pttl(key)) < 0) withoutExpiry.push(key);
    expect(withoutExpiry).toEqual(["tsweb:{tsweb}:epoch"]);
    expect(keys).toHaveLength(3);
    const ttl = await client.pttl("tsweb:{tsweb}:channel:a");
    expect(ttl).toBeGreaterThan(24.5 * 3_600_000);
    expect(ttl).toBeLessThanOrEqual(24.5 * 3_600_000 + 60_000);
  });

  it("removes messages by age and by number, and reports a gap only to readers that have not received them", async () => {
    const { bus } = open({ hours: 5 / 3600, messages: 3 });
    const from = await endOf(bus, "a");
    const first = await bus.publish("a", "1");
    for (const text of ["2", "3"]) await bus.publish("a", text);
    expect(texts(await readAll(bus, "a", from))).toEqual(["1", "2", "3"]);
    const fourth = await bus.publish("a", "4");
    expect((await bus.read("a", from, atMost(10))).gap).toBe(true);
    expect(texts(await readAll(bus, "a", first))).toEqual(["2", "3", "4"]);
    const silent = await endOf(bus, "b");
    const redisTimeMs = async () => Number((await server.client().time())[0]) * 1000;
    const expiresAt = (await redisTimeMs()) + 6_000; // seconds are rounded down, and the messages expire after five
    await expect.poll(redisTimeMs).toBeGreaterThanOrEqual(expiresAt);
    const fifth = await bus.publish("a", "5");
    expect((await bus.read("a", first, atMost(10))).gap).toBe(true);
    expect(texts(await readAll(bus, "a", fourth))).toEqual(["5"]);
    expect(await readAll(bus, "a", fifth)).toEqual([]);
    // A channel without a stream may have had one that has expired.
    expect((await bus.read("b", silent, atMost(10))).gap).toBe(true);
  });

  it("reports a gap when the key of a channel was deleted, and starts a new stream", async () => {
    const { bus } = open();
    const subscriber = await TestSubscriber.start(bus, "a");
    const from = await endOf(bus, "a");
    const first = await bus.publish("a", "1");
    await expect.poll(() => subscriber.received.length).toBe(1);
    await server.client().del("tsweb:{tsweb}:channel:a");
    expect((await bus.read("a", first, atMost(10))).gap).toBe(true);
    const second = await bus.publish("a", "2");
    expect((await bus.read("a", first, atMost(10))).gap).toBe(true);
    await expect.poll(() => subscriber.gaps).toBe(1);
    const third = await bus.publish("a", "3");
    await expect.poll(() => texts(subscriber.received)).toEqual(["1", "3"]);
    expect([from < first, first < second, second < third]).toEqual([true, true, true]);
    subscriber.stop();
  });

  it("does not notify listeners of another database or another namespace on the same Redis [LIVE-10]", async () => {
    const urls = [server.url, `${server.url}/1`, `${server.url}?namespace=blog`, `${server.url}/1?namespace=blog`];
    const buses = [...urls.map((url) => open({ url }).bus), open({ namespace: "other" }).bus];
    await expectSeparate(buses);
  });

  it("stores a batch once when it is sent again, and refuses an earlier batch after a later one", async () => {
    const { bus } = open();
    const from = await endOf(bus, "a");
    const client = server.client();
    const monitor = await client.monitor();
    const commands: string[][] = [];
    monitor.on("monitor", (_time: string, args: string[]) => {
      if (/^eval/i.test(args[0] ?? "") && args.includes("tsweb:{tsweb}:channel:a") && args.length > 8)
        commands.push(args);
    });
    await bus.publish("a", '"first"');
    await bus.publish("a", '"second"');
    await expect.poll(() => commands.filter(([name]) => name === "evalsha").length).toBeGreaterThan(1);
    monitor.disconnect();
    const [first = [], second = []] = ["first", "second"].map((text) =>
      commands.findLast((args) => args.at(-1) === `"${text}"`),
    );
    const sha = second[1] ?? "";
    const sendAgain = (args: readonly string[]) => client.call("evalsha", sha, ...args.slice(2));
    expect(await sendAgain(second)).toEqual(await sendAgain(second));
    expect(await sendAgain(first)).toBeNull();
    expect(texts(await readAll(bus, "a", from))).toEqual(['"first"', '"second"']);
  });

  it("rejects at once with the reply of Redis when Redis refuses a command", async () => {
    const { bus } = open();
    const client = server.client();
    await client.set("tsweb:{tsweb}:channel:a", "not a stream");
    const end = await endOf(bus, "b");
    await expect(bus.publish("a", "1")).rejects.toThrow("WRONGTYPE");
    await expect(bus.position(["a"])).rejects.toThrow("WRONGTYPE");
    await expect(bus.read("a", end, atMost(1))).rejects.toThrow("WRONGTYPE");
    await client.config("SET", "maxmemory", "1");
    await expect(bus.publish("b", "1")).rejects.toThrow("OOM");
    await client.config("SET", "maxmemory", "0");
    expect(texts(await readAll(bus, "b", await endOf(bus, "b")))).toEqual([]);
  });

  it.each([
    ["noeviction", "100mb", 0],
    ["allkeys-lru", "0", 0],
    ["allkeys-lru", "100mb", 1],
    ["volatile-ttl", "100mb", 1],
  ])(
    "logs one warning if Redis can evict keys: maxmemory-policy %s, maxmemory %s",
    async (policy, maxmemory, count) => {
      const client = server.client();
      await client.config("SET", "maxmemory-policy", policy, "maxmemory", maxmemory);
      const { bus, lines } = open();
      await bus.publish("a", "1");
      await bus.publish("a", "2");
      expect(lines).toHaveLength(count);
      const message = expect.stringContaining(`The bus is a Redis with maxmemory-policy ${policy}`);
      if (count > 0) expect(lines[0]).toMatchObject({ level: "warn", message });
      await client.config("SET", "maxmemory-policy", "noeviction", "maxmemory", "0");
    },
  );

  it("calls listeners without an entry for a pub/sub message that another program sent, and logs it once [LIVE-14]", async () => {
    const { bus, lines } = open();
    const subscriber = await TestSubscriber.start(bus, "a");
    await bus.publish("a", "1");
    await expect.poll(() => texts(subscriber.received)).toEqual(["1"]);
    const entries: unknown[] = [];
    const stop = await bus.watch("a", (entry) => void entries.push(entry));
    const client = server.client();
    const [pubSubChannel = ""] = (await client.pubsub("CHANNELS", "*")) as string[];
    const epoch = (await endOf(bus, "a")).split(".")[0];
    for (const text of ["", "garbage", `${epoch} 1-1 1-x 2`, `${epoch} - 1-1 2`, `no-epoch 1-1 1-2 3`, "\0\xff"])
      await client.publish(pubSubChannel, text);
    await client.publish(pubSubChannel, `${epoch} 0 ${"9".repeat(15)}-1 4`);
    await expect.poll(() => entries).toContain(undefined);
    await bus.publish("a", "2");
    await expect.poll(() => texts(subscriber.received)).toEqual(["1", "2"]);
    expect(entries).toContain(undefined);
    expect(subscriber.gaps).toBe(0);
    expect(lines).toEqual([
      { level: "warn", fields: expect.anything(), message: expect.stringContaining("Another program") },
    ]);
    stop();
    subscriber.stop();
  });

  it("reports a gap at a stream entry that another program added, and delivers the messages around it", async () => {
    const { bus, lines } = open();
    const from = await endOf(bus, "a");
    const first = await bus.publish("a", "1");
    const client = server.client();
    const [stream = ""] = await client.keys("*:channel:a");
    await client.xadd(stream, "*", "unknown", "entry");
    const foreign = await endOf(bus, "a");
    expect(await bus.read("a", foreign, atMost(10))).toMatchObject({ gap: false, messages: [], more: false });
    const before = await bus.read("a", from, atMost(10));
    expect([texts(before.messages), before.gap, before.end, before.more]).toEqual([["1"], false, first, true]);
    expect(await bus.read("a", first, atMost(10))).toMatchObject({ gap: true, messages: [] });
    await bus.publish("a", "2");
    await bus.publish("a", "3");
    expect(texts(await readAll(bus, "a", foreign))).toEqual(["2", "3"]);
    expect(lines).toEqual([
      { level: "warn", fields: expect.anything(), message: expect.stringContaining("Another program") },
    ]);
  });

  it("creates the epoch again when another program has overwritten it", async () => {
    const { bus } = open();
    const first = await bus.publish("a", "1");
    const client = server.client();
    const [epoch = ""] = await client.keys("*:epoch");
    await client.set(epoch, "not an epoch");
    expect(await bus.read("a", first, atMost(10))).toMatchObject({ gap: true });
    const second = await bus.publish("a", "2");
    expect(second).toMatch(/^[0-9a-z]{13}\.[0-9a-z]{9}-[0-9a-z]{9}$/);
    expect(texts(await readAll(bus, "a", second))).toEqual([]);
  });
});

/** The stores of outcomes of idempotent functions: the same over every bus. */
import { randomUUID } from "node:crypto";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { NatsServer } from "#test/nats-server";
import { RedisServer } from "#test/redis-server";
import type { OutcomeStore } from "../../src/backends/index.ts";
import { memory } from "../../src/backends/index.ts";
import { MemoryOutcomes } from "../../src/backends/memory/bus.ts";
import { nats } from "../../src/backends/nats/index.ts";
import { redis } from "../../src/backends/redis/index.ts";
import { UnreachableError } from "../../src/reconnect.ts";

const MINUTES = 60_000;

describe.each([
  ["in memory", async () => ({ url: "", stop: () => Promise.resolve() }), () => memory()],
  ["in Redis", () => RedisServer.start(), (url: string) => redis(url)],
  ["in NATS", () => NatsServer.start(), (url: string) => nats(url)],
] as const)("outcomes %s", (name, start, open) => {
  let server: { readonly url: string; stop(): Promise<unknown> };
  let buses: ReturnType<typeof memory>[];
  let stores: OutcomeStore[];
  beforeAll(async () => {
    server = await start();
    const first = open(server.url);
    buses = name === "in memory" ? [first] : [first, open(server.url)];
    stores = [first, buses[1] ?? first].map(({ outcomes }) => outcomes as OutcomeStore);
  });
  afterAll(async () => {
    await Promise.all((buses ?? []).map((bus) => bus.close()));
    await server?.stop();
  });
  const store = (at: number) => stores[at] as OutcomeStore;

  it("are claimed by exactly one of many at once, in all processes", async () => {
    const key = randomUUID();
    const claims = Array.from({ length: 20 }, (_, i) => store(i % 2).claim(key, `claim ${i}`));
    const results = await Promise.all(claims);
    const winner = results.indexOf(null);
    expect(results.filter((result) => result === null)).toHaveLength(1);
    expect(new Set(results)).toEqual(new Set([null, `claim ${winner}`]));
  });

  it("are replaced, read by claims of other processes, and removed", async () => {
    const key = randomUUID();
    await store(0).claim(key, "claim");
    const text = JSON.stringify({ json: "ü\u0000".repeat(10_000) });
    await store(0).write(key, text);
    expect(await store(1).claim(key, "second")).toBe(text);
    await store(1).remove(key);
    await store(1).remove(key);
    expect(await store(0).claim(key, "third")).toBeNull();
    expect(await store(1).claim(randomUUID(), "other key")).toBeNull();
  });
});

describe("outcomes in memory", () => {
  it("are kept for 10 minutes", async () => {
    let now = 0;
    const outcomes = new MemoryOutcomes(() => now);
    await outcomes.claim("a", "1");
    now = 10 * MINUTES - 1;
    expect(await outcomes.claim("a", "2")).toBe("1");
    now = 10 * MINUTES;
    expect(await outcomes.claim("a", "2")).toBeNull();
  });

  it("take at most their maximum, refuse records above it, and drop none", async () => {
    const outcomes = new MemoryOutcomes(() => 0, 3 * 1512);
    await outcomes.claim("a", "x".repeat(500));
    await outcomes.claim("b", "x".repeat(500));
    await outcomes.claim("c", "?"); // below
    await expect(outcomes.write("c", "x".repeat(501))).rejects.toThrow(
      /take 4536 bytes of memory, which is their maximum/,
    );
    expect(await outcomes.claim("c", "")).toBe("?");
    await outcomes.write("c", "x".repeat(500)); // exactly the maximum
    expect(outcomes.bytes).toBe(3 * 1512);
    await expect(outcomes.claim("d", "")).rejects.toThrow(/which is their maximum/);
    for (const key of ["a", "b", "c"]) expect(await outcomes.claim(key, "")).toHaveLength(500);
    await outcomes.remove("b");
    expect(await outcomes.claim("d", "x".repeat(500))).toBeNull();
    for (const key of ["a", "c", "d"]) await outcomes.remove(key);
    expect(outcomes.bytes).toBe(0);
  });

  it("are half full from half of their maximum on, until enough of them has expired or was removed", async () => {
    let now = 0;
    const outcomes = new MemoryOutcomes(() => now, 10_000);
    await outcomes.claim("a", "x".repeat((4_998 - 512) / 2));
    expect(outcomes.isHalfFull()).toBe(false);
    await outcomes.write("a", "x".repeat((5_000 - 512) / 2));
    expect(outcomes.isHalfFull()).toBe(true);
    now = 10 * MINUTES;
    expect(outcomes.isHalfFull()).toBe(false);
    await outcomes.claim("b", "x".repeat(5_000 - 512));
    expect(outcomes.isHalfFull()).toBe(true);
    await outcomes.remove("b");
    expect(outcomes.isHalfFull()).toBe(false);
  });
});

describe("outcomes in Redis", () => {
  it("are sent again while the memory of Redis is used up, and further submissions are refused, and do not run", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined); // the error of Redis
    const server = await RedisServer.start();
    const run = vi.fn((text: string) => text);
    const save = compiledServer("save", run, { params: { text: "any" }, options: { idempotent: true } });
    const env = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_BUS_URL: server.url };
    const app = createTestApp({ save }, { rate: false, env });
    const client = server.client();
    const call = (key: string) => callOverHttp(app, "save", { text: "a" }, { headers: { "idempotency-key": key } });
    const [first, second] = [randomUUID(), randomUUID()];
    try {
      expect(await call(first)).toMatchObject({ status: 200 });
      await client.config("SET", "maxmemory-policy", "noeviction", "maxmemory", "1");
      expect(await call(first)).toMatchObject({ status: 200 });
      expect(await call(second)).toMatchObject({ status: 500 });
      expect(run).toHaveBeenCalledTimes(1);
      await client.config("SET", "maxmemory", "0");
      expect(await call(second)).toMatchObject({ status: 200 });
      expect(run).toHaveBeenCalledTimes(2);
    } finally {
      await app.close();
      await server.stop();
    }
  });
});

describe("outcomes in NATS", () => {
  it("are refused by a full stream, which drops none", async () => {
    const server = await NatsServer.start();
    const bus = nats(server.url);
    const connection = await connect({ servers: server.url });
    try {
      const store = bus.outcomes as OutcomeStore;
      await store.claim("first", "x".repeat(500));
      const { streams } = await jetstreamManager(connection);
      const stream = (await streams.list().next()).find(({ config }) => config.name.startsWith("tsweb-once-"));
      if (!stream) throw new Error("The bus has created no stream of outcomes.");
      await streams.update(stream.config.name, { ...stream.config, max_bytes: 2_048 });
      await store.claim("second", "x".repeat(500));
      const startMs = performance.now();
      const refusal = await store.claim("third", "x".repeat(1_500)).catch((error: unknown) => error);
      expect(refusal).not.toBeInstanceOf(UnreachableError);
      expect(String(refusal)).toMatch(
        /take the maximum bytes of the stream tsweb-once-\S+ in NATS, so a submission was refused\./,
      );
      expect(performance.now() - startMs).toBeLessThan(1_000); // it is not retried for 2 s
      for (const key of ["first", "second"]) expect(await store.claim(key, "")).toHaveLength(500);
      expect(await store.claim("second", "x".repeat(1_500))).toHaveLength(500); // for which there is no room either
      await expect(store.write("second", "x".repeat(1_000))).rejects.toThrow(/take the maximum bytes/);
      await store.write("second", "!"); // shorter than what is stored
      expect(await store.claim("second", "")).toBe("!");
    } finally {
      await connection.close();
      await bus.close();
      await server.stop();
    }
  });

  it("are refused by a full stream that existed with the setting to drop its oldest messages", async () => {
    const server = await NatsServer.start();
    const bus = nats(`${server.url}?namespace=shop`);
    const connection = await connect({ servers: server.url });
    try {
      const { streams } = await jetstreamManager(connection);
      const name = "tsweb-once-shop";
      const limits = { max_msgs_per_subject: 1, max_bytes: 2_048, discard: "old" as const };
      await streams.add({ name, subjects: ["tsweb.once.shop.*"], ...limits });
      const store = bus.outcomes as OutcomeStore;
      await store.claim("first", "x".repeat(1_000));
      await expect(store.claim("second", "x".repeat(1_500))).rejects.toThrow(/take the maximum bytes/);
      expect(await store.claim("first", "")).toHaveLength(1_000);
      expect((await streams.info(name)).config).toMatchObject({ ...limits, discard: "new" });
    } finally {
      await connection.close();
      await bus.close();
      await server.stop();
    }
  });
});

/**
 * The rate that processes share, while Redis is killed, hangs, fills up or was never there: no call
 * fails or waits for it.
 */
import { afterEach, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { RedisServer, type RedisServerOptions } from "#test/redis-server";
import { type ManagedRateStore, openRateStore } from "../../src/rate-limit/index.ts";

const AWAY = "The shared rate store is away: this process counts calls by itself";
const BACK = "The shared rate store is back: processes count calls together";

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function startRedis(setup?: RedisServerOptions): Promise<RedisServer> {
  const server = await RedisServer.start(setup);
  opened.push({ close: () => server.stop() });
  return server;
}

/** Opens the store of a process; of what it logs, `said` has what is about the rate. */
function openStore(server: RedisServer, { calls = 120, path = "" } = {}) {
  const { log, lines } = recordedLog();
  // An hour: no test is long enough for a call to slide out of it.
  const store = openRateStore({ calls, seconds: 3600 }, { busUrl: server.url + path, log });
  opened.push(store);
  const said = () => lines.map(({ message }) => message).filter((message) => [AWAY, BACK].includes(message));
  return { store, said, lines };
}

/** Two stores of the same Redis, as of two processes: another address, another connection. */
function openTwo(server: RedisServer, calls: number) {
  return [openStore(server, { calls }), openStore(server, { calls, path: "/0" })] as const;
}

async function admitted(count: number, stores: readonly ManagedRateStore[], key: string): Promise<number> {
  const waits = await Promise.all(
    Array.from({ length: count }, async (_, at) => stores[at % stores.length]?.take(key) ?? Number.NaN),
  );
  return waits.filter((wait) => wait === 0).length;
}

it("is counted together before Redis is killed, by each process while it is away, and together again", async () => {
  const server = await startRedis({ appendOnly: true });
  const [one, two] = openTwo(server, 10);
  const stores = [one.store, two.store];
  await Promise.all(stores.map((store) => store.start()));
  expect(await admitted(40, stores, "before")).toBe(10);

  // Killed in the midst of calls: each of them is answered, and so are all that come while it is away.
  const callers = Array.from({ length: 20 }, async (_, at) => {
    for (let call = 0; call < 50; call++) {
      const wait = await stores[at % 2]?.take(`caller ${at}`);
      expect(wait).toBeGreaterThanOrEqual(0);
      if (call === 10 && at === 0) await server.kill();
    }
  });
  await Promise.all(callers);
  // By now each of them has noticed, or does at its next call.
  for (const { store, said } of [one, two]) {
    expect(await store.take("late")).toBe(0);
    expect(said()).toEqual([AWAY]);
  }
  expect(await admitted(40, stores, "meanwhile")).toBe(20);

  await server.restart();
  for (const { said } of [one, two]) await expect.poll(said, { timeout: 15_000 }).toEqual([AWAY, BACK]);
  expect(await admitted(40, stores, "after")).toBe(10);
  // What was on the disk counts on.
  expect(await admitted(40, stores, "before")).toBe(0);
});

it("does not wait for a Redis that hangs, but for 250 ms once", async () => {
  const server = await startRedis();
  const { store, said } = openStore(server, { calls: 5 });
  await store.start();
  expect(await store.take("a")).toBe(0);
  server.pause();
  const first = store.take("a");
  expect(first).toBeInstanceOf(Promise);
  expect(await first).toBe(0);
  expect(said()).toEqual([AWAY]);
  // Here already, with what was counted before.
  expect([store.take("a"), store.take("a"), store.take("a")]).toEqual([0, 0, 0]);
  expect(store.take("a")).toBeGreaterThan(0);
  server.resume();
  await expect.poll(said, { timeout: 15_000 }).toEqual([AWAY, BACK]);
  expect(store.take("a")).toBeInstanceOf(Promise);
});

it("is counted here while a Redis is full", async () => {
  const server = await startRedis();
  const { store, said } = openStore(server);
  await store.start();
  const admin = server.client();
  await admin.config("SET", "maxmemory", "1");
  expect(await store.take("a")).toBe(0);
  expect(said()).toEqual([AWAY]);
  await admin.config("SET", "maxmemory", "0");
  await expect.poll(said, { timeout: 15_000 }).toEqual([AWAY, BACK]);
});

it("starts without Redis, and takes it up when it comes", async () => {
  const server = await startRedis();
  await server.kill();
  const { store, said, lines } = openStore(server);
  await store.start();
  expect(said()).toEqual([AWAY]);
  const reason = `Redis at 127.0.0.1:${server.port} is away.`;
  expect(lines).toContainEqual({ level: "warn", fields: { reason }, message: AWAY });
  expect(await store.take("a")).toBe(0);
  await server.restart();
  await expect.poll(said, { timeout: 15_000 }).toEqual([AWAY, BACK]);
});

it("is connected by the first call where nobody started it, and counts that call in Redis", async () => {
  const server = await startRedis();
  const { store, said } = openStore(server);
  expect(await store.take("a")).toBe(0);
  expect(said()).toEqual([]);
  expect(await server.client().keys("*")).toHaveLength(1);
});

it("connects to nothing that is no Redis, and before it is used to nothing at all", async () => {
  const server = await startRedis();
  const { log } = recordedLog();
  const nats = openRateStore({ calls: 1, seconds: 60 }, { busUrl: server.url.replace("redis:", "nats:"), log });
  opened.push(nats, openStore(server).store);
  await nats.start();
  expect([nats.take("a"), nats.take("a")]).toEqual([0, expect.any(Number)]);
  const list = String(await server.client().client("LIST"));
  expect(list).not.toContain("name=tsweb");
});

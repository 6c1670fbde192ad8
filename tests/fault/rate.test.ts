/**
 * The rate limit that processes share, while Redis is killed, hangs, is full or was never started. No call
 * fails because of it, and none waits longer than 250 ms.
 */
import { afterEach, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { RedisServer, type RedisServerOptions } from "#test/redis-server";
import { singleLimit } from "#test/single-limit";
import { openRateStore } from "../../src/backends/index.ts";
import { CountLimit, type ManagedRateStore, StoreUnavailableError } from "../../src/rate-limit/index.ts";

const UNREACHABLE = "The shared rate limit store is unreachable; this process counts for itself";
const REACHABLE = "The shared rate limit store is reachable again; all processes share the counts";

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function startRedis(options?: RedisServerOptions): Promise<RedisServer> {
  const server = await RedisServer.start(options);
  opened.push({ close: () => server.stop() });
  return server;
}

const REFUSED = "The shared rate limit store refuses writes; this process counts for itself";
const ACCEPTED = "The shared rate limit store accepts writes again; all processes share the counts";

/** Opens the store of one process. `logged` returns its log messages about the shared store. */
function openStore(server: RedisServer, { calls = 120, path = "" } = {}) {
  const { log, lines } = recordedLog();
  const managed = openRateStore({ redis: () => ({ url: server.url + path, namespace: "shop" }), log });
  const store = managedLimit(managed, calls);
  opened.push(managed);
  const logged = () =>
    lines
      .map(({ message }) => message)
      .filter((message) => [UNREACHABLE, REACHABLE, REFUSED, ACCEPTED].includes(message));
  return { store, logged, lines };
}

/** Returns a store with one limit. Its span is an hour, so that no call slides out of the window during a test. */
function managedLimit(managed: ManagedRateStore, calls: number) {
  const limit = singleLimit(managed, { calls, seconds: 3600 });
  const { use, start, close } = managed;
  return { take: (key: string) => limit.take(key), use, start, close };
}

/** Opens two stores as two processes would: with different URLs of one Redis, so that they share no connection. */
function openTwo(server: RedisServer, calls: number) {
  return [openStore(server, { calls }), openStore(server, { calls, path: "/0" })] as const;
}

/** Sends 40 calls with a key to the stores alternately, and returns how many are accepted. */
async function countAccepted(both: ReturnType<typeof openTwo>, key: string): Promise<number> {
  const calls = Array.from({ length: 40 }, async (_, at) => both[at % 2]?.store.take(key) ?? Number.NaN);
  return (await Promise.all(calls)).filter((wait) => wait === 0).length;
}

/**
 * Expects two stores to accept this number of 40 calls with the first key. On a busy machine, Redis may answer a call after 250 ms,
 * which its store then counts alone, and logs: only then this expects it of the next key.
 */
async function expectAccepted(accepted: number, both: ReturnType<typeof openTwo>, keys: readonly string[]) {
  for (const key of keys) {
    const count = await countAccepted(both, key);
    if (count === accepted) return;
    const slow = both.flatMap(({ lines }) =>
      lines.filter(({ fields }) => "reason" in fields && fields.reason === "slow"),
    );
    expect(slow, `accepted ${count} calls with the key "${key}"`).not.toEqual([]);
    for (const { store } of both) await expect.poll(() => store.take("probe") instanceof Promise).toBe(true);
  }
  expect.fail(`Redis was slow each time, for the keys ${keys.join()}`);
}

it("two stores share counts, count separately while Redis is down, and share counts again afterwards", async () => {
  const server = await startRedis({ appendOnly: true });
  const both = openTwo(server, 10);
  await Promise.all(both.map(({ store }) => store.start()));
  await expectAccepted(10, both, ["a", "b", "c"]);
  const exhausted = ["d", "e", "f"];
  for (const key of exhausted) await countAccepted(both, key);

  // Redis is killed while calls are in flight: these and all further calls get a result.
  const clients = Array.from({ length: 20 }, async (_, index) => {
    for (let call = 0; call < 50; call++) {
      const wait = await both[index % 2]?.store.take(`client ${index}`);
      expect(wait).toBeGreaterThanOrEqual(0);
      if (call === 10 && index === 0) await server.kill();
    }
  });
  await Promise.all(clients);
  // Each store has detected the failure by now, or detects it at its next call.
  for (const { store, logged } of both) {
    expect(await store.take("late")).toBe(0);
    await expect.poll(logged).toEqual([UNREACHABLE]);
  }
  expect(await countAccepted(both, "meanwhile")).toBe(20);

  await server.restart();
  for (const { logged } of both) await expect.poll(logged).toEqual([UNREACHABLE, REACHABLE]);
  await expectAccepted(10, both, ["g", "h", "i"]);
  // Redis has restored the counts from its append-only file.
  await expectAccepted(0, both, exhausted);
});

it("only the first call waits for a Redis that hangs, for 250 ms", async () => {
  const server = await startRedis();
  const { store, lines } = openStore(server, { calls: 5 });
  await store.start();
  expect(await store.take("a")).toBe(0);
  await server.pause();
  const first = store.take("a");
  expect(first).toBeInstanceOf(Promise);
  expect(await first).toBe(0);
  expect(lines.at(-1)).toMatchObject({ fields: { reason: "slow", calls: 1 } });
  // The local store returns synchronously, and has counted the first call.
  expect([store.take("a"), store.take("a"), store.take("a")]).toEqual([0, 0, 0]);
  expect(store.take("a")).toBeGreaterThan(0);
  server.resume();
  await expect.poll(() => store.take("a") instanceof Promise).toBe(true);
});

it("a process counts for itself while Redis is full", async () => {
  const server = await startRedis();
  const { store, logged } = openStore(server);
  await store.start();
  const admin = server.client();
  await admin.config("SET", "maxmemory", "1");
  expect(await store.take("a")).toBe(0);
  await expect.poll(logged).toEqual([REFUSED]);
  await admin.config("SET", "maxmemory", "0");
  await expect.poll(logged).toEqual([REFUSED, ACCEPTED]);
});

it("a store starts while Redis is unreachable, and uses it as soon as it is reachable", async () => {
  const server = await startRedis();
  await server.kill();
  const { store, logged, lines } = openStore(server);
  await store.start();
  expect(logged()).toEqual([UNREACHABLE]);
  const reason = `Redis at 127.0.0.1:${server.port} is unreachable.`;
  expect(lines).toContainEqual({ level: "warn", fields: { reason }, message: UNREACHABLE });
  expect(await store.take("a")).toBe(0);
  await server.restart();
  await expect.poll(logged).toEqual([UNREACHABLE, REACHABLE]);
});

it("a store that was not started connects at the first call, and counts that call in Redis", async () => {
  const server = await startRedis();
  const { store, logged } = openStore(server);
  expect(await store.take("a")).toBe(0);
  expect(logged()).toEqual([]);
  expect(await server.client().keys("*")).toHaveLength(1);
});

it("a store connects neither before its first use, nor to a bus that is not Redis", async () => {
  const server = await startRedis();
  const { log } = recordedLog();
  const nats = managedLimit(openRateStore({ redis: () => undefined, log }), 1);
  opened.push(nats, openStore(server).store);
  await nats.start();
  expect([nats.take("a"), nats.take("a")]).toEqual([0, expect.any(Number)]);
  const list = String(await server.client().client("LIST"));
  expect(list).not.toContain("name=tsweb");
});

it("a store that was closed before its first call counts in its process, and connects to nothing", async () => {
  const server = await startRedis();
  const { store } = openStore(server, { calls: 1 });
  await store.close();
  expect([await store.take("a"), (await store.take("a")) > 0]).toEqual([0, true]);
  expect(String(await server.client().client("LIST"))).not.toContain("name=tsweb");
});

it("a strict use fails while Redis is unreachable, and any other counts in its process", async () => {
  const server = await startRedis();
  const { store, logged } = openStore(server);
  const limit = new CountLimit("key", { calls: 5, seconds: 3600 }, "one key");
  const use = async (strict: boolean) => store.use(limit, "a", { mode: "check", cost: 1, strict });
  await store.start();
  expect(await use(true)).toMatchObject({ left: 4, isCounted: true });
  await server.kill();
  await expect(use(true)).rejects.toThrow(StoreUnavailableError);
  await expect.poll(logged).toEqual([UNREACHABLE]);
  await expect(use(true)).rejects.toThrow(StoreUnavailableError);
  expect(await use(false), "with what this process has counted before").toMatchObject({ left: 3, isCounted: true });
  await server.restart();
  await expect.poll(logged).toEqual([UNREACHABLE, REACHABLE]);
  expect(await use(true)).toMatchObject({ isCounted: true });
});

import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, expect, it, vi } from "vitest";
import { atMost } from "#test/read-limit";
import { recordedLog } from "#test/recorded-log";
import { singleLimit } from "#test/single-limit";
import type { Logger } from "../logging/index.ts";
import type { Bus } from "./bus/index.ts";
import { openBus, openRateStore } from "./open-bus.ts";

const opened: Bus[] = [];

afterEach(async () => {
  vi.doUnmock("ioredis");
  vi.doUnmock("@nats-io/jetstream");
  for (const bus of opened.splice(0)) await bus.close();
});

function openWithLog(url: string | undefined) {
  const { log, lines } = recordedLog();
  const bus = openBus({ busUrl: url, busNamespace: "test", log });
  opened.push(bus);
  return { bus, lines };
}

it("opens a bus in memory without a URL", async () => {
  const { bus } = openWithLog(undefined);
  const position = await bus.publish("a", "1");
  expect((await bus.read("a", position, atMost(1))).gap).toBe(false);
});

it.each([
  ["redis://:mellon@127.0.0.1:1/1", "Redis is unreachable; retrying", { redis: "127.0.0.1:1/1" }],
  ["rediss://:mellon@127.0.0.1:1", "Redis is unreachable; retrying", { redis: "127.0.0.1:1" }],
  ["nats://u:mellon@127.0.0.1:1", "NATS is unreachable; retrying", { nats: "127.0.0.1:1" }],
  ["tls://mellon@127.0.0.1:1", "NATS is unreachable; retrying", { nats: "127.0.0.1:1" }],
])("opens the bus of %s, which logs the address without the password", async (url, message, fields) => {
  const { bus, lines } = openWithLog(url);
  const error = await bus.position([]).catch(String);
  expect(error).toContain("did not respond within 2 s");
  // On a busy machine, loading the client takes longer than the bus waits.
  await expect.poll(() => lines).toEqual([{ level: "warn", message, fields: expect.objectContaining(fields) }]);
  expect(JSON.stringify([lines, error])).not.toContain("mellon");
});

it.each([
  ["redis://127.0.0.1:1", "ioredis", "npm install ioredis"],
  ["nats://127.0.0.1:1", "@nats-io/jetstream", "npm install @nats-io/transport-node @nats-io/jetstream"],
])("rejects at once with the install command if the client package of %s is missing", async (url, missing, command) => {
  vi.doMock(missing, () => {
    throw new Error(`Cannot find package '${missing}'`);
  });
  const { bus } = openWithLog(url);
  for (const operation of [bus.position([]), bus.publish("a", "1"), bus.watch("a", () => undefined)]) {
    const error = await operation.catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: "ConfigError" });
    expect(String(error)).toContain(command);
  }
});

it("logs an outage outside of the request that has noticed it, and of the one that has connected", async () => {
  const requests = new AsyncLocalStorage<string>();
  const contexts: unknown[] = [];
  const { log, lines } = recordedLog();
  const write = (level: keyof Logger) => (fields: object, message: string) => {
    contexts.push(requests.getStore());
    log[level](fields, message);
  };
  const store = openRateStore({
    redis: () => ({ url: "redis://127.0.0.1:1", namespace: "shop" }),
    log: { info: write("info"), warn: write("warn"), error: write("error") },
  });
  const { take } = singleLimit(store, { calls: 3, seconds: 60 });
  expect(await requests.run("a request", () => take("a"))).toBe(0);
  // The rate limit may have given up waiting before the connection was refused.
  await expect.poll(() => lines.map(({ message }) => message)).toContain("Redis is unreachable; retrying");
  await store.close();
  expect(lines.length).toBeGreaterThan(1);
  expect(contexts).toEqual(lines.map(() => undefined));
});

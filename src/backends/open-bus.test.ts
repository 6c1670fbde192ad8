import { afterEach, expect, it, vi } from "vitest";
import { atMost } from "#test/read-limit";
import { recordedLog } from "#test/recorded-log";
import type { Bus } from "./bus/index.ts";
import { openBus } from "./open-bus.ts";

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

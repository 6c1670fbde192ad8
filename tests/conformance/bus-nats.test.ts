/**
 * The bus in NATS, beyond the contract of all buses: its stream, also if another process created or deleted
 * it, and servers that cannot be used.
 */
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { NatsServer } from "#test/nats-server";
import { recordedLog } from "#test/recorded-log";
import type { Bus } from "../../src/live/bus/index.ts";
import { type NatsOptions, nats } from "../../src/live/bus/nats.ts";
import { endOf, readAll, TestSubscriber } from "./bus.ts";

let server: NatsServer;
let connection: NatsConnection;
const openBuses: Bus[] = [];
let streams = 0;

beforeAll(async () => {
  server = await NatsServer.start();
  connection = await connect({ servers: server.url });
});

afterEach(async () => {
  for (const bus of openBuses.splice(0)) await bus.close();
});

afterAll(async () => {
  await connection?.close();
  await server?.stop();
});

function open(options: Partial<NatsOptions> = {}) {
  const { log, lines } = recordedLog();
  const bus = nats({ url: server.url, log, ...options });
  openBuses.push(bus);
  return { bus, lines };
}

const uniqueStream = () => `stream-${++streams}`;
const texts = (messages: readonly { readonly data: string }[]) => messages.map(({ data }) => data);

describe("the bus in NATS", () => {
  it("creates its stream with the limits of its options", async () => {
    const stream = uniqueStream();
    const { bus } = open({ stream, bytes: 1_000_000, hours: 2 });
    await bus.position([]);
    const { config } = await (await jetstreamManager(connection)).streams.info(stream);
    expect(config).toMatchObject({
      ...{ subjects: [`${stream}.live.*`], storage: "file", discard: "old", max_bytes: 1_000_000 },
      ...{ max_age: 2 * 3_600_000_000_000, duplicate_window: 120_000_000_000, max_msgs_per_subject: -1 },
      ...{ deny_delete: true, deny_purge: true, num_replicas: 1 },
    });
  });

  it("returns positions without a gap while the first messages are published", async () => {
    for (let round = 0; round < 10; round++) {
      const { bus } = open({ stream: uniqueStream() });
      await bus.position([]);
      const published = Promise.all(Array.from({ length: 8 }, (_, n) => bus.publish(`room:${n}`, String(n))));
      const positions = await Promise.all(Array.from({ length: 40 }, () => endOf(bus, "room:7")));
      await published;
      for (const position of positions) expect((await bus.read("room:7", position, 10)).gap, position).toBe(false);
    }
  });

  it("creates the stream once when four buses with different options start together", async () => {
    const stream = uniqueStream();
    const buses = [1, 2, 3, 4].map((number) => open({ stream, bytes: number * 100_000 }).bus);
    const positions = await Promise.all(buses.map((bus) => bus.publish("a", "1")));
    expect(new Set(positions).size).toBe(4);
    expect(new Set(positions.map((position) => position.split(".")[0])).size).toBe(1);
  });

  it("removes messages by age, and reports a gap to readers that have not received them", async () => {
    const { bus } = open({ stream: uniqueStream(), hours: 1 / 3600 });
    const from = await endOf(bus, "a");
    const first = await bus.publish("a", "1");
    expect(texts(await readAll(bus, "a", from))).toEqual(["1"]);
    // The server removes expired messages at intervals of its own.
    await expect.poll(async () => (await bus.read("a", from, 10)).gap, { timeout: 10_000 }).toBe(true);
    expect((await bus.read("a", first, 10)).messages).toEqual([]);
    const end = await endOf(bus, "a");
    await bus.publish("a", "2");
    expect(texts(await readAll(bus, "a", end))).toEqual(["2"]);
  });

  it("creates a deleted stream again, and reports a gap to every reader", async () => {
    const stream = uniqueStream();
    const { bus, lines } = open({ stream });
    const { bus: other } = open({ stream });
    const subscriber = await TestSubscriber.start(other, "a");
    const from = await endOf(bus, "a");
    const first = await bus.publish("a", "1");
    await expect.poll(() => subscriber.received.length).toBe(1);
    await server.deleteStream(stream);
    const second = await bus.publish("a", "2");
    expect(second > first).toBe(true);
    for (const position of [from, first]) expect((await bus.read("a", position, 10)).gap).toBe(true);
    await expect.poll(() => subscriber.gaps, { timeout: 10_000 }).toBe(1);
    await bus.publish("a", "3");
    await expect.poll(() => subscriber.received.at(-1)?.data).toBe("3");
    expect(lines).toEqual([]);
    subscriber.stop();
  });

  it("does not receive the messages of another stream", async () => {
    const buses = [open({ stream: uniqueStream() }).bus, open({ stream: uniqueStream() }).bus];
    const subscribers = await Promise.all(buses.map((bus) => TestSubscriber.start(bus, "a")));
    for (const [at, bus] of buses.entries()) await bus.publish("a", String(at));
    for (const [at, subscriber] of subscribers.entries()) {
      await expect.poll(() => texts(subscriber.received)).toEqual([String(at)]);
      subscriber.stop();
    }
  });

  it("rejects with an error that names JetStream if the server has none", async () => {
    const plain = await NatsServer.start({ jetStream: false });
    try {
      const { bus } = open({ url: plain.url });
      await expect(bus.position(["a"])).rejects.toThrow(/did not respond within 2 s\..*jetstream/i);
    } finally {
      await plain.stop();
    }
  });

  it("rejects at once with the reason when the server refuses the stream, or its name is not valid", async () => {
    const { bus } = open({ stream: uniqueStream(), bytes: 1e15 });
    const startedAt = performance.now();
    await expect(bus.position(["a"])).rejects.toThrow(/storage|resources/);
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    expect(() => nats({ url: server.url, stream: "a.b" })).toThrow(TypeError);
    expect(() => nats({ url: server.url, stream: "" })).toThrow(TypeError);
  });
});

/**
 * What the bus in NATS does beyond what all buses do: with a stream that somebody else has made, or
 * emptied, and with a server that is not set up for it.
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
const opened: Bus[] = [];
let streams = 0;

beforeAll(async () => {
  server = await NatsServer.start();
  connection = await connect({ servers: server.url });
});

afterEach(async () => {
  for (const bus of opened.splice(0)) await bus.close();
});

afterAll(async () => {
  await connection?.close();
  await server?.stop();
});

function open(options: Partial<NatsOptions> = {}) {
  const { log, lines } = recordedLog();
  const bus = nats({ url: server.url, log, ...options });
  opened.push(bus);
  return { bus, lines };
}

const freshStream = () => `stream-${++streams}`;
const texts = (messages: readonly { readonly data: string }[]) => messages.map(({ data }) => data);

describe("the bus in NATS", () => {
  it("makes its stream as it needs it", async () => {
    const stream = freshStream();
    const { bus } = open({ stream, bytes: 1_000_000, hours: 2 });
    await bus.position([]);
    const { config } = await (await jetstreamManager(connection)).streams.info(stream);
    expect(config).toMatchObject({
      ...{ subjects: [`${stream}.live.*`], storage: "file", discard: "old", max_bytes: 1_000_000 },
      ...{ max_age: 2 * 3_600_000_000_000, duplicate_window: 120_000_000_000, max_msgs_per_subject: -1 },
      ...{ deny_delete: true, deny_purge: true, num_replicas: 1 },
    });
  });

  it("gives positions that can be read on from while its first messages come", async () => {
    for (let round = 0; round < 10; round++) {
      const { bus } = open({ stream: freshStream() });
      await bus.position([]);
      const published = Promise.all(Array.from({ length: 8 }, (_, n) => bus.publish(`room:${n}`, String(n))));
      const positions = await Promise.all(Array.from({ length: 40 }, () => endOf(bus, "room:7")));
      await published;
      for (const position of positions) expect((await bus.read("room:7", position, 10)).gap, position).toBe(false);
    }
  });

  it("is made once by many who come at once, and used as it is by those who come with other settings", async () => {
    const stream = freshStream();
    const buses = [1, 2, 3, 4].map((number) => open({ stream, bytes: number * 100_000 }).bus);
    const positions = await Promise.all(buses.map((bus) => bus.publish("a", "1")));
    expect(new Set(positions).size).toBe(4);
    expect(new Set(positions.map((position) => position.split(".")[0])).size).toBe(1);
  });

  it("lets messages go by age, and tells who would have had to see them", async () => {
    const { bus } = open({ stream: freshStream(), hours: 1 / 3600 });
    const from = await endOf(bus, "a");
    const first = await bus.publish("a", "1");
    expect(texts(await readAll(bus, "a", from))).toEqual(["1"]);
    // The server looks for what is too old in its own time.
    await expect.poll(async () => (await bus.read("a", from, 10)).gap, { timeout: 10_000 }).toBe(true);
    expect((await bus.read("a", first, 10)).messages).toEqual([]);
    const end = await endOf(bus, "a");
    await bus.publish("a", "2");
    expect(texts(await readAll(bus, "a", end))).toEqual(["2"]);
  });

  it("goes on when its stream was deleted and made anew, telling everybody", async () => {
    const stream = freshStream();
    const { bus, lines } = open({ stream });
    const { bus: other } = open({ stream });
    const follower = await TestSubscriber.start(other, "a");
    const from = await endOf(bus, "a");
    const first = await bus.publish("a", "1");
    await expect.poll(() => follower.received.length).toBe(1);
    await server.deleteStream(stream);
    const second = await bus.publish("a", "2");
    expect(second > first).toBe(true);
    for (const position of [from, first]) expect((await bus.read("a", position, 10)).gap).toBe(true);
    await expect.poll(() => follower.gaps, { timeout: 10_000 }).toBe(1);
    await bus.publish("a", "3");
    await expect.poll(() => follower.received.at(-1)?.data).toBe("3");
    expect(lines).toEqual([]);
    follower.stop();
  });

  it("hears no other stream's messages", async () => {
    const buses = [open({ stream: freshStream() }).bus, open({ stream: freshStream() }).bus];
    const followers = await Promise.all(buses.map((bus) => TestSubscriber.start(bus, "a")));
    for (const [at, bus] of buses.entries()) await bus.publish("a", String(at));
    for (const [at, follower] of followers.entries()) {
      await expect.poll(() => texts(follower.received)).toEqual([String(at)]);
      follower.stop();
    }
  });

  it("says that a server has no JetStream", async () => {
    const plain = await NatsServer.start({ jetStream: false });
    try {
      const { bus } = open({ url: plain.url });
      await expect(bus.position(["a"])).rejects.toThrow(/did not answer within 2 s\..*jetstream/i);
    } finally {
      await plain.stop();
    }
  });

  it("fails at once, with the reason, when the server refuses", async () => {
    const { bus } = open({ stream: freshStream(), bytes: 1e15 });
    const begun = performance.now();
    await expect(bus.position(["a"])).rejects.toThrow(/storage|resources/);
    expect(performance.now() - begun).toBeLessThan(1_500);
    expect(() => nats({ url: server.url, stream: "a.b" })).toThrow(TypeError);
    expect(() => nats({ url: server.url, stream: "" })).toThrow(TypeError);
  });
});

/**
 * The bus in NATS, beyond the contract of all buses: its stream, also if another process created or deleted
 * it, and servers that cannot be used.
 */
import { connect as connectSocket } from "node:net";
import { jetstreamManager, type StreamConfig } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { NatsServer } from "#test/nats-server";
import { atMost } from "#test/read-limit";
import { recordedLog } from "#test/recorded-log";
import type { Bus, Position } from "../../src/backends/index.ts";
import { type NatsOptions, nats } from "../../src/backends/nats/bus.ts";
import type { NatsPresence } from "../../src/backends/nats/presence.ts";
import { expectSeparate } from "./bus/separate-buses.ts";
import { endOf, readAll, TestSubscriber } from "./bus.ts";

let server: NatsServer;
let connection: NatsConnection;
const openBuses: Bus[] = [];
let namespaces = 0;
/** A stream that keeps its messages for 30 seconds, the least time, and a message in it. */
let aging: { readonly bus: Bus; readonly from: Position; readonly first: Position };

beforeAll(async () => {
  server = await NatsServer.start();
  connection = await connect({ servers: server.url });
  const bus = nats({ url: server.url, namespace: "aging", hours: 1 / 120, log: recordedLog().log });
  const from = await endOf(bus, "a");
  aging = { bus, from, first: await bus.publish("a", "1") };
  expect(texts(await readAll(bus, "a", from))).toEqual(["1"]);
});

afterEach(async () => {
  for (const bus of openBuses.splice(0)) await bus.close();
});

afterAll(async () => {
  await aging?.bus.close();
  await connection?.close();
  await server?.stop();
});

function open(options: Partial<NatsOptions> = {}) {
  const { log, lines } = recordedLog();
  const bus = nats({ url: server.url, log, ...options });
  openBuses.push(bus);
  return { bus, lines };
}

const uniqueNamespace = () => `namespace-${++namespaces}`;
const streamOf = (namespace: string) => `tsweb-live-${namespace}`;
const texts = (messages: readonly { readonly data: string }[]) => messages.map(({ data }) => data);

describe("who is present in NATS", () => {
  it("creates the consumers of many channels again a few at a time, and deletes those that they replace", async () => {
    const namespace = uniqueNamespace();
    const { presence } = open({ namespace }).bus;
    const channels = Array.from({ length: 100 }, (_, at) => `room:${at}`);
    const watch = { holder: "holder", leaseMs: 60_000, listener: () => undefined };
    const stops = await Promise.all(channels.map((channel) => presence?.watch(channel, watch)));
    const manager = await jetstreamManager(connection);
    const consumers = async () => (await manager.streams.info(`tsweb-presence-${namespace}`)).state.consumer_count;
    expect(await consumers()).toBe(100);
    let most = 0;
    let pending = 0;
    const requests = connection.subscribe("$JS.API.CONSUMER.>", {
      callback: (_, { subject }) => {
        if (!subject.includes("CREATE") || !subject.includes(`tsweb-presence-${namespace}`)) return;
        most = Math.max(most, ++pending);
      },
    });
    const responses = connection.subscribe("$JS.EVENT.ADVISORY.CONSUMER.CREATED.>", { callback: () => void pending-- });
    await connection.flush();
    (presence as NatsPresence).restart(); // as after a lost connection
    await Promise.all(channels.map((channel) => presence?.read(channel)));
    await expect.poll(consumers, { timeout: 10_000 }).toBe(100);
    expect(most).toBeGreaterThan(0);
    expect(most, "an advisory may arrive after the next request").toBeLessThan(20);
    for (const each of [requests, responses]) each.unsubscribe();
    for (const stop of stops) stop?.();
    await expect.poll(consumers, { timeout: 10_000 }).toBe(0);
  });
});

describe("the bus in NATS", () => {
  it("creates its stream with the limits of its options", async () => {
    const namespace = uniqueNamespace();
    const { bus } = open({ namespace, bytes: 1_000_000, hours: 2 });
    await bus.position([]);
    const { config } = await (await jetstreamManager(connection)).streams.info(streamOf(namespace));
    expect(config).toMatchObject({
      ...{ subjects: [`tsweb.live.${namespace}.*`], storage: "file", discard: "old", max_bytes: 1_000_000 },
      ...{ max_age: 2 * 3_600_000_000_000, duplicate_window: 120_000_000_000, max_msgs_per_subject: -1 },
      ...{ deny_delete: true, deny_purge: true, num_replicas: 1 },
    });
  });

  it("returns positions without a gap while the first messages are published", async () => {
    for (let round = 0; round < 10; round++) {
      const { bus } = open({ namespace: uniqueNamespace() });
      await bus.position([]);
      const published = Promise.all(Array.from({ length: 8 }, (_, n) => bus.publish(`room:${n}`, String(n))));
      const positions = await Promise.all(Array.from({ length: 40 }, () => endOf(bus, "room:7")));
      await published;
      for (const position of positions)
        expect((await bus.read("room:7", position, atMost(10))).gap, position).toBe(false);
    }
  });

  it("creates the stream once when four buses with different options start together", async () => {
    const namespace = uniqueNamespace();
    const buses = [1, 2, 3, 4].map((number) => open({ namespace, bytes: number * 100_000 }).bus);
    const positions = await Promise.all(buses.map((bus) => bus.publish("a", "1")));
    expect(new Set(positions).size).toBe(4);
    expect(new Set(positions.map((position) => position.split(".")[0])).size).toBe(1);
  });

  it("creates a deleted stream again, and reports a gap to every reader", async () => {
    const namespace = uniqueNamespace();
    const { bus, lines } = open({ namespace });
    const { bus: other } = open({ namespace });
    const subscriber = await TestSubscriber.start(other, "a");
    const from = await endOf(bus, "a");
    const first = await bus.publish("a", "1");
    await expect.poll(() => subscriber.received.length).toBe(1);
    await server.deleteStream(streamOf(namespace));
    const second = await bus.publish("a", "2");
    expect(second > first).toBe(true);
    for (const position of [from, first]) expect((await bus.read("a", position, atMost(10))).gap).toBe(true);
    await expect.poll(() => subscriber.gaps).toBe(1);
    await bus.publish("a", "3");
    await expect.poll(() => subscriber.received.at(-1)?.data).toBe("3");
    expect(lines).toEqual([]);
    subscriber.stop();
  });

  it.each<[string, Partial<StreamConfig>, boolean]>([
    ["with other settings, which it refuses until they are corrected", { max_msgs_per_subject: 3 }, true],
    ["with other limits that it can use", { max_bytes: 100_000 }, false],
  ])(
    "notices at the next message that its stream was created again %s, and gives each reader a gap",
    async (_, settings, isRefused) => {
      const namespace = uniqueNamespace();
      const name = streamOf(namespace);
      const { bus } = open({ namespace });
      const { bus: other } = open({ namespace });
      const subscriber = await TestSubscriber.start(other, "a");
      const from = await endOf(bus, "a");
      for (let at = 1; at <= 8; at++) await bus.publish("a", String(at));
      await expect.poll(() => subscriber.received.length).toBe(8);
      const { streams } = await jetstreamManager(connection);
      await server.deleteStream(name);
      const config = { name, subjects: [`tsweb.live.${namespace}.*`], deny_delete: true, deny_purge: true };
      await streams.add({ ...config, ...settings });
      const outcomes = [];
      for (let at = 9; at <= 16; at++) {
        const published = bus.publish("a", String(at));
        outcomes.push(
          await published.then(
            () => "stored",
            (error: Error) => error.name,
          ),
        );
      }
      expect(outcomes).toEqual(outcomes.map(() => (isRefused ? "ConfigError" : "stored")));
      if (isRefused) {
        await expect(bus.read("a", from, atMost(10))).rejects.toThrow("max_msgs_per_subject");
        await server.deleteStream(name);
      }
      await expect.poll(() => bus.publish("a", "17").then(() => "stored", String)).toBe("stored");
      await expect.poll(() => subscriber.gaps).toBe(1);
      expect(await bus.read("a", from, atMost(10))).toMatchObject({ gap: true, reset: true });
      await bus.publish("a", "18");
      await expect.poll(() => subscriber.received.at(-1)?.data).toBe("18");
      subscriber.stop();
    },
  );

  it("notices within seconds that the settings of its stream were changed, logs it, and gives each reader a gap when they are corrected", async () => {
    const namespace = uniqueNamespace();
    const { bus, lines } = open({ namespace });
    const subscriber = await TestSubscriber.start(bus, "a");
    const from = await endOf(bus, "a");
    await bus.publish("a", "1");
    const { streams } = await jetstreamManager(connection);
    await streams.update(streamOf(namespace), { max_msgs_per_subject: 1 });
    await expect(bus.read("a", from, atMost(10))).rejects.toThrow("max_msgs_per_subject");
    await expect.poll(() => lines.filter(({ level }) => level === "error").length, { timeout: 15_000 }).toBe(1);
    expect(lines.at(-1)?.message).toContain("max_msgs_per_subject");
    await expect(bus.publish("a", "2")).rejects.toThrow("max_msgs_per_subject");
    await streams.update(streamOf(namespace), { max_msgs_per_subject: -1 });
    await expect.poll(() => bus.publish("a", "3").then(() => "stored", String)).toBe("stored");
    expect(await bus.read("a", from, atMost(10))).toMatchObject({ gap: true, reset: true });
    await expect.poll(() => subscriber.gaps).toBe(1);
    await bus.publish("a", "4");
    await expect.poll(() => subscriber.received.at(-1)?.data).toBe("4");
    subscriber.stop();
  });

  it("does not receive the messages of another namespace [LIVE-11]", async () => {
    const url = `${server.url}?namespace=${uniqueNamespace()}`;
    const buses = [open().bus, open({ url }).bus, open({ namespace: uniqueNamespace() }).bus];
    await expectSeparate(buses);
  });

  it.each<[string, Partial<StreamConfig>, string]>([
    ["the messages of one channel are limited", { max_msgs_per_subject: 10 }, "max_msgs_per_subject"],
    ["it stores other subjects too", { subjects: ["tsweb.live.refused.*", "orders.*"] }, "subjects"],
    ["it does not store its subjects", { subjects: ["other.*"] }, "subjects"],
    ["it refuses messages when it is full", { discard: "new", max_msgs: 10 }, "discard"],
    ["it removes what a consumer has acknowledged", { retention: "interest" }, "retention"],
    ["messages can be deleted", { deny_delete: false }, "deny_delete, deny_purge"],
    ["messages can be purged", { deny_purge: false }, "deny_delete, deny_purge"],
    ["a message can replace others", { deny_purge: false, allow_rollup_hdrs: true }, "allow_rollup_hdrs"],
    ["it does not confirm messages", { no_ack: true }, "no_ack"],
    [
      "it detects a message that is sent again for less than 30 s",
      { duplicate_window: 29_000_000_000 },
      "duplicate_window",
    ],
  ])("refuses an existing stream if %s, with the reason and the fix", async (_case, overrides, setting) => {
    const { streams } = await jetstreamManager(connection);
    const name = streamOf("refused");
    const config = { name, subjects: ["tsweb.live.refused.*"], deny_delete: true, deny_purge: true, ...overrides };
    await streams.add(config);
    try {
      const { bus } = open({ namespace: "refused" });
      for (const operation of [
        () => bus.publish("a", "1"),
        () => bus.position(["a"]),
        () => bus.watch("a", () => undefined),
        () => bus.check?.(),
      ]) {
        const error = await Promise.resolve(operation()).then(
          () => "accepted",
          (reason: Error) => `${reason.name}: ${reason.message}`,
        );
        expect(error).toContain(`ConfigError: WEB_BUS_URL is a NATS server whose stream ${name} the bus cannot use.`);
        expect(error).toContain(setting);
        expect(error).toContain(`nats stream rm ${name}`);
      }
    } finally {
      await streams.delete(name);
    }
  });

  it("accepts an existing stream with other limits that remove the oldest messages", async () => {
    const { streams } = await jetstreamManager(connection);
    const name = streamOf("accepted");
    const limits = { max_msgs: 5, max_bytes: 10_000, max_age: 60_000_000_000, deny_delete: true, deny_purge: true };
    await streams.add({ name, subjects: ["tsweb.live.accepted.*"], ...limits });
    const { bus } = open({ namespace: "accepted" });
    const from = await endOf(bus, "a");
    await bus.publish("a", "1");
    expect(texts(await readAll(bus, "a", from))).toEqual(["1"]);
    expect(await bus.check?.()).toEqual([]);
    for (let at = 0; at < 5; at++) await bus.publish("b", "2");
    expect((await bus.read("a", from, atMost(10))).gap).toBe(true);
  });

  it("requests the stream at most once a second for positions of other epochs, which clients can send [LIVE-16]", async () => {
    const namespace = uniqueNamespace();
    const { bus } = open({ namespace });
    bus.identify?.(["fingerprint"]);
    let requests = 0;
    const subscription = connection.subscribe("$JS.API.STREAM.INFO.*", {
      callback: (_, { subject }) => void (subject.endsWith(`-${namespace}`) && requests++),
    });
    await connection.flush();
    const startedAt = performance.now();
    const end = await bus.publish("a", "1");
    for (let at = 0; at < 50; at++) {
      const epoch = (at + 1).toString(36).padStart(13, "z");
      expect(await bus.read("a", end.replace(/^\w+/, epoch), atMost(10))).toMatchObject({ gap: true, reset: true });
    }
    const seconds = Math.ceil((performance.now() - startedAt) / 1000);
    await connection.flush();
    expect(requests).toBeGreaterThanOrEqual(2); // the stream, and that of the fingerprints
    expect(requests).toBeLessThanOrEqual(4 * (seconds + 1)); // either is requested twice when it is created
    subscription.unsubscribe();
    expect((await bus.read("a", end, atMost(10))).gap).toBe(false);
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

  it("rejects at once with the reason when the server refuses the stream, or the namespace is not valid", async () => {
    const { bus } = open({ namespace: uniqueNamespace(), bytes: 1e15 });
    // Not after two seconds: then the message would start with "The bus did not respond".
    await expect(bus.position(["a"])).rejects.toThrow(/^(?!The bus).*(storage|resources)/s);
    expect(() => nats({ url: server.url, namespace: "a.b" })).toThrow(TypeError);
    expect(() => nats({ url: server.url, namespace: "" })).toThrow(TypeError);
    expect(() => nats({ url: server.url, hours: 29 / 3600 })).toThrow(
      /hours of nats must be at least .*received 0\.008/,
    );
  });

  it("ignores messages and headers of other programs on its subjects, logs the first, and delivers its own [LIVE-15]", async () => {
    const namespace = uniqueNamespace();
    const { bus, lines } = open({ namespace });
    const subscriber = await TestSubscriber.start(bus, "a");
    // What the listener gets, which a subscriber that reads the history again would hide.
    const entries: string[] = [];
    const stop = await bus.watch("a", (entry) => void (entry?.data !== undefined && entries.push(entry.data)));
    const from = await endOf(bus, "a");
    await bus.publish("a", "1");
    const [subject = ""] = Object.keys(
      (await (await jetstreamManager(connection)).streams.info(streamOf(namespace), { subjects_filter: ">" })).state
        .subjects ?? {},
    );
    connection.publish(subject, "garbage");
    connection.publish(subject.replace(/[^.]*$/, "!!"), "garbage");
    await publishRaw(subject, "NATS/1.0\r\ninvalid name: 1\r\n\r\n", "garbage");
    await publishRaw(subject, "NATS/1.0 100 x\r\nNats-Consumer-Stalled: a b\r\n\r\n", "garbage");
    await publishRaw(subject, "NATS/1.0\r\nNats-Msg-Id: foreign-1\r\n\r\n", "garbage");
    await publishRaw(subject, "garbage\r\n\r\n", "garbage");
    const foreign = await endOf(bus, "a");
    await bus.publish("a", "2");
    await bus.publish("a", "3");
    await expect.poll(() => texts(subscriber.received)).toEqual(["1", "2", "3"]);
    expect(texts(await readAll(bus, "a", from))).toEqual(["1", "2", "3"]);
    expect(texts(await readAll(bus, "a", from, 1))).toEqual(["1", "2", "3"]);
    expect(texts(await readAll(bus, "a", foreign))).toEqual(["2", "3"]);
    expect(entries.filter((data) => !["1", "2", "3"].includes(data))).toEqual([]);
    expect(subscriber.gaps).toBe(0);
    expect(lines).toEqual([
      { level: "warn", fields: expect.anything(), message: expect.stringContaining("Another program") },
    ]);
    stop();
    subscriber.stop();
  });

  it("removes messages by age, and reports a gap to readers that have not received them", async () => {
    const { bus, from, first } = aging;
    // The server removes expired messages at intervals of its own.
    await expect.poll(async () => (await bus.read("a", from, atMost(10))).gap, { timeout: 45_000 }).toBe(true);
    expect((await bus.read("a", first, atMost(10))).messages).toEqual([]);
    const end = await endOf(bus, "a");
    await bus.publish("a", "2");
    expect(texts(await readAll(bus, "a", end))).toEqual(["2"]);
  });
});

/** Publishes a message with these bytes as its headers, which a client library would refuse to send. */
async function publishRaw(subject: string, headers: string, data: string): Promise<void> {
  const socket = connectSocket(server.port, "127.0.0.1");
  const received = new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("data", (bytes) => String(bytes).includes("PONG") && resolve());
  });
  const command = `HPUB ${subject} ${headers.length} ${headers.length + data.length}`;
  const options = { verbose: false, headers: true };
  socket.write(`CONNECT ${JSON.stringify(options)}\r\n${command}\r\n${headers}${data}\r\nPING\r\n`);
  await received;
  socket.destroy();
}

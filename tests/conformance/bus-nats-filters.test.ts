/**
 * How a process receives the messages of its channels from NATS: from NATS 2.10.14 on only those of the channels that have
 * listeners, from earlier versions those of all. Whole on current servers in `npm run matrix -- servers`.
 */
import { connect as connectSocket, createServer, type Server, type Socket } from "node:net";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { NatsServer } from "#test/nats-server";
import { atMost } from "#test/read-limit";
import { recordedLog } from "#test/recorded-log";
import { SeededRandom } from "#test/seeded-random";
import type { Bus, Position } from "../../src/backends/index.ts";
import { type NatsOptions, nats } from "../../src/backends/nats/bus.ts";
import { supportsFilters } from "../../src/backends/nats/consumers.ts";
import { endOf, TestSubscriber } from "./bus.ts";

let server: NatsServer;
let connection: NatsConnection;
let filters: boolean;
const cleanups: (() => unknown)[] = [];
let namespaces = 0;

beforeAll(async () => {
  server = await NatsServer.start();
  connection = await connect({ servers: server.url });
  filters = supportsFilters(connection.info);
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

afterAll(async () => {
  await connection?.close();
  await server?.stop();
});

function open(options: Partial<NatsOptions> & { readonly namespace: string }): Bus {
  const bus = nats({ url: server.url, log: recordedLog().log, ...options });
  cleanups.push(() => bus.close());
  return bus;
}

const uniqueNamespace = () => `filters-${++namespaces}`;
const numbers = (count: number) => Array.from({ length: count }, (_, number) => String(number));
const dataOf = ({ received }: TestSubscriber) => received.map(({ data }) => data);

async function consumersOf(namespace: string) {
  const { consumers } = await jetstreamManager(connection);
  const all = [];
  for await (const info of consumers.list(`tsweb-live-${namespace}`)) all.push(info);
  return all;
}

describe("a process", () => {
  it("receives the messages of the channels that have listeners only, if the server filters", async () => {
    const namespace = uniqueNamespace();
    const [bus, other] = [open({ namespace }), open({ namespace })];
    const subscriber = await TestSubscriber.start(bus, "read");
    for (const data of numbers(20)) {
      await other.publish("unread", data);
      await other.publish("read", data);
    }
    await expect.poll(() => dataOf(subscriber)).toEqual(numbers(20));
    const [consumer, ...others] = await consumersOf(namespace);
    expect(others).toEqual([]);
    // With filters: the channel, the barriers, and perhaps the subject of the last delivery.
    expect(consumer?.config.filter_subjects?.length ?? 0).toBe(filters ? 2 : 0);
    expect(consumer?.delivered.consumer_seq).toBe(filters ? 20 : 40);
    subscriber.stop();
  });

  it("gets every message once and in order while hundreds of channels get and lose listeners", async () => {
    const namespace = uniqueNamespace();
    const [bus, other] = [open({ namespace }), open({ namespace })];
    const random = new SeededRandom(1);
    const channels = Array.from({ length: 450 }, (_, number) => `room:${number}`);
    const kept = await Promise.all(
      channels.filter((_, at) => at % 9 === 0).map((each) => TestSubscriber.start(bus, each)),
    );
    const published = new Map<string, string[]>();
    let isDone = false;
    const publishing = (async () => {
      for (let number = 0; !isDone; number++) {
        const batch = Array.from({ length: 5 }, () => random.integer(0, channels.length - 1));
        await Promise.all(
          [...new Set(batch)].map(async (at) => {
            const channel = channels[at] ?? "";
            await other.publish(channel, String(number));
            published.set(channel, [...(published.get(channel) ?? []), String(number)]);
          }),
        );
      }
    })();
    const starts: [TestSubscriber, string, number][] = [];
    for (let round = 0; round < 15; round++) {
      const some = channels.filter(() => random.integer(0, 5) === 0);
      await Promise.all(
        some.map(async (channel) => {
          const subscriber = await TestSubscriber.start(bus, channel);
          // What is published from now on is covered.
          starts.push([subscriber, channel, published.get(channel)?.length ?? 0]);
          if (random.integer(0, 1) === 0) setTimeout(() => subscriber.stop(), random.integer(0, 100)).unref();
        }),
      );
    }
    isDone = true;
    await publishing;
    const all: [TestSubscriber, string][] = kept.map((subscriber, at) => [subscriber, channels[at * 9] ?? ""]);
    for (const [subscriber, channel] of all) {
      await expect.poll(() => dataOf(subscriber)).toEqual(published.get(channel) ?? []);
      expect(subscriber.gaps).toBe(0);
    }
    for (const [subscriber, channel] of starts) {
      const data = dataOf(subscriber);
      const expected = published.get(channel) ?? [];
      // A stopped subscriber has received the first ones only.
      const first = data[0] === undefined ? 0 : expected.indexOf(data[0]);
      expect(data).toEqual(expected.slice(first, first + data.length));
      expect(subscriber.gaps).toBe(0);
    }
    expect((await consumersOf(namespace)).length).toBeLessThanOrEqual(filters ? 6 : 2);
  });

  it("gets the progress of a quiet channel, from which it reads without a gap when other channels have filled the stream", async () => {
    const namespace = uniqueNamespace();
    const [bus, other] = [open({ namespace, bytes: 100_000 }), open({ namespace, bytes: 100_000 })];
    const start = await endOf(bus, "quiet");
    const positions: Position[] = [];
    const stop = await bus.watch("quiet", (entry) => {
      if (entry && entry.data === undefined) positions.push(entry.position);
    });
    const publishBytes = async (bytes: number) => {
      for (const _ of numbers(bytes / 4_000)) await other.publish("busy", "x".repeat(4_000));
    };
    await publishBytes(60_000);
    await expect.poll(() => positions.length, { timeout: 20_000 }).toBeGreaterThan(0);
    await publishBytes(80_000);
    expect((await bus.read("quiet", start, atMost(10))).gap).toBe(true);
    const last = positions.at(-1) ?? "";
    expect(last > start).toBe(true);
    await other.publish("quiet", "1");
    const { gap, messages } = await bus.read("quiet", last, atMost(10));
    expect([gap, messages.map(({ data }) => data)]).toEqual([false, ["1"]]);
    stop();
  });

  it("gets a gap, and misses nothing without one, if the stream is filled while its consumer is slow", async () => {
    const namespace = uniqueNamespace();
    const proxy = await SlowProxy.start(server.port);
    cleanups.push(() => proxy.close());
    const limits = { namespace, bytes: 400_000 };
    const slow = open({ ...limits, url: `nats://127.0.0.1:${proxy.port}` });
    const other = open(limits);
    let sent = 0;
    let gaps = 0;
    const subscriber = await TestSubscriber.start(slow, "a");
    await other.publish("a", JSON.stringify([sent++, ""]));
    await expect.poll(() => subscriber.received.length).toBe(1); // it reads no more
    for (let round = 1; gaps === 0 && round <= 10; round++) {
      proxy.pause();
      // More than the server sends before the client responds, 2 MiB, and more than the stream stores after that.
      for (let batch = 0; batch < 40; batch++) {
        await Promise.all(numbers(20).map(() => other.publish("a", JSON.stringify([sent++, "x".repeat(8_000)]))));
      }
      proxy.resume();
      const deliversAgain = async () => {
        const number = sent++;
        await other.publish("a", JSON.stringify([number, ""]));
        await expect.poll(() => numberOf(subscriber.received.at(-1)?.data), { timeout: 500 }).toBe(number);
        return true;
      };
      // A message during the gap is not received.
      await expect.poll(() => deliversAgain().catch(() => false), { timeout: 20_000 }).toBe(true);
      gaps = subscriber.gaps;
    }
    expect(gaps).toBeGreaterThan(0);
    const received = subscriber.received.map(({ data }) => numberOf(data));
    for (const [at, number] of received.entries()) {
      const isAfterGap = subscriber.gapIndexes.includes(at);
      if (!isAfterGap) expect(number, `message ${at}`).toBe(at === 0 ? 0 : (received[at - 1] ?? 0) + 1);
    }
    subscriber.stop();
  });

  it("continues without a gap when its consumer is deleted", async () => {
    const namespace = uniqueNamespace();
    const [bus, other] = [open({ namespace }), open({ namespace })];
    const subscriber = await TestSubscriber.start(bus, "a");
    await other.publish("a", "0");
    await expect.poll(() => dataOf(subscriber)).toEqual(["0"]);
    const { consumers } = await jetstreamManager(connection);
    for (const { stream_name, name } of await consumersOf(namespace)) await consumers.delete(stream_name, name);
    for (const data of numbers(20).slice(1)) await other.publish("a", data);
    await expect.poll(() => dataOf(subscriber), { timeout: 15_000 }).toEqual(numbers(20));
    expect(subscriber.gaps).toBe(0);
    subscriber.stop();
  });
});

const numberOf = (data: string | undefined): number => (data === undefined ? -1 : JSON.parse(data)[0]);

/** A proxy in front of a server, which can stop reading what the server sends. */
class SlowProxy {
  readonly #server: Server;
  readonly #upstream = new Set<Socket>();

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const upstream = connectSocket(port, "127.0.0.1");
      this.#upstream.add(upstream);
      client.pipe(upstream);
      upstream.on("data", (bytes) => client.write(bytes));
      for (const [one, other] of [[client, upstream] as const, [upstream, client] as const]) {
        one.on("error", () => other.destroy());
        one.on("close", () => other.destroy());
      }
    });
  }

  static async start(port: number): Promise<SlowProxy> {
    const proxy = new SlowProxy(port);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The proxy does not listen.");
    return address.port;
  }

  pause(): void {
    for (const socket of this.#upstream) socket.pause();
  }

  resume(): void {
    for (const socket of this.#upstream) socket.resume();
  }

  close(): void {
    for (const socket of this.#upstream) socket.destroy();
    this.#server.close();
  }
}

/** `publish` and `listen` of two applications, as in two processes, over each bus. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { NatsServer } from "#test/nats-server";
import { recordedLog } from "#test/recorded-log";
import { RedisServer } from "#test/redis-server";
import type { App } from "../../src/app.ts";
import { type LiveMessages, listen } from "../../src/live/index.ts";

interface BusServer {
  readonly url: string;
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The bus in memory has no server. */
const BUSES: readonly (readonly [name: string, start: (() => Promise<BusServer>) | null])[] = [
  ["in memory", null],
  ["in Redis", () => RedisServer.start({ appendOnly: true })],
  ["in NATS", () => NatsServer.start()],
];

const empty = compiledServer("empty", () => null);
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

/** Takes the next messages of a loop. */
async function take(messages: LiveMessages<unknown>, count: number): Promise<unknown[]> {
  const taken: unknown[] = [];
  while (taken.length < count) {
    const { value, done } = await messages.next();
    if (done) throw new Error(`The loop has ended after ${taken.length} messages.`);
    taken.push(value);
  }
  return taken;
}

describe.each(BUSES)("over the bus %s", (_name, start) => {
  let server: BusServer | null;
  let publisher: App;
  let listener: App;
  beforeAll(async () => {
    server = start && (await start());
    const env = { WEB_AUTH_SECRET: "5a".repeat(32), ...(server && { WEB_BUS_URL: `${server.url}?namespace=listen` }) };
    const open = () => createTestApp({ empty }, { env, log: recordedLog().log });
    publisher = open();
    listener = server ? open() : publisher; // a bus in memory has one process
  });
  afterAll(async () => {
    await publisher?.close();
    await listener?.close();
    await server?.stop();
  });

  it("keeps the order of calls of `publish` that are not awaited", async () => {
    const messages = listen("order", { app: listener });
    await messages.ready;
    const publishing = Promise.all(numbers(500).map((number) => publisher.publish("order", number)));
    expect(await take(messages, 500)).toEqual(numbers(500));
    await publishing;
    await messages.return();
  });

  it("passes every message once to several loops in both applications, also those of a loop that is slow", async () => {
    const loops = [listener, listener, publisher].map((app) => listen("several", { app }));
    await Promise.all(loops.map(({ ready }) => ready));
    const [slow, ...others] = loops;
    const received = Promise.all(others.map((messages) => take(messages, 300)));
    const text = "x".repeat(2_000);
    await Promise.all(numbers(300).map((number) => publisher.publish("several", [number, text])));
    const expected = numbers(300).map((number) => [number, text]);
    expect(await received).toEqual([expected, expected]);
    expect(slow && (await take(slow, 300))).toEqual(expected);
    for (const messages of loops) await messages.return();
  });

  it("begins at the oldest stored message with { from: 'start' }, and continues", async () => {
    for (const number of numbers(10)) await publisher.publish("start", number);
    const messages = listen("start", { app: listener, from: "start" });
    expect(await take(messages, 10)).toEqual(numbers(10));
    await publisher.publish("start", 10);
    expect(await take(messages, 1)).toEqual([10]);
    await messages.return();
  });

  if (start === null) return;

  it("loses, doubles and reorders nothing when the server of the bus is killed and started again", async () => {
    const messages = listen("restart", { app: listener });
    await messages.ready;
    const stored: number[] = [];
    let isDone = false;
    const publishing = (async () => {
      for (let number = 0; !isDone; number++) {
        await publisher.publish("restart", number).then(
          () => stored.push(number),
          () => undefined, // it may be stored nevertheless
        );
      }
      await publisher.publish("restart", "end");
    })();
    const received: unknown[] = [];
    const receiving = (async () => {
      for await (const message of messages) {
        if (message === "end") return;
        received.push(message);
      }
    })();
    await expect.poll(() => received.length).toBeGreaterThan(20);
    await server?.kill();
    await server?.restart();
    const before = stored.length;
    await expect.poll(() => stored.length, { timeout: 30_000 }).toBeGreaterThan(before + 20);
    isDone = true;
    await publishing;
    await receiving;
    expect(received).toEqual([...new Set(received)].sort((a, b) => Number(a) - Number(b)));
    expect(stored.filter((number) => !received.includes(number))).toEqual([]);
  }, 60_000);
});

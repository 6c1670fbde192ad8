/**
 * Servers that lose messages which they have acknowledged: a Redis without append-only file that is killed, and a NATS
 * server whose files are set back. Every page has to get a gap.
 */
import { afterEach, describe, expect, it } from "vitest";
import { NatsServer } from "#test/nats-server";
import { recordedLog } from "#test/recorded-log";
import { RedisServer, type RedisServerOptions } from "#test/redis-server";
import type { Bus, Position } from "../../src/backends/index.ts";
import { nats } from "../../src/backends/nats/bus.ts";
import { redis } from "../../src/backends/redis/bus.ts";
import { endOf, readAll, TestSubscriber, whenResponding } from "../conformance/bus.ts";

const LIMIT = { messages: 100, bytes: 100_000 };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startRedis(options: RedisServerOptions = {}) {
  const server = await RedisServer.start(options);
  cleanups.push(() => server.stop());
  return server;
}

function openRedis(url: string) {
  const { log, lines } = recordedLog();
  const bus = redis({ url, namespace: "shop", log });
  cleanups.push(() => bus.close());
  return { bus, warnings: () => lines.map(({ message }) => message).filter((text) => text.startsWith("The bus ")) };
}

/** Reads a channel. The bus may need longer than the two seconds of a read to connect to a server that was started again. */
const read = (bus: Bus, position: Position) => whenResponding(() => bus.read("a", position, LIMIT));

const texts = (messages: readonly { readonly data: string }[]) => messages.map(({ data }) => data);

describe("a Redis without append-only file", () => {
  it("that lost acknowledged messages in a crash has a new epoch: every position gets a gap", async () => {
    const server = await startRedis();
    const { bus } = openRedis(server.url);
    const subscriber = await TestSubscriber.start(bus, "a");
    const start = await endOf(bus, "a");
    const saved = [await bus.publish("a", "1"), await bus.publish("a", "2")];
    await server.client().save();
    const lost = [await bus.publish("a", "3"), await bus.publish("a", "4"), await bus.publish("a", "5")];
    await expect.poll(() => texts(subscriber.received)).toEqual(["1", "2", "3", "4", "5"]);
    await server.kill();
    await server.restart();
    // Also to a process that has not seen the messages.
    for (const each of [bus, openRedis(server.url).bus]) {
      for (const position of [start, ...saved, ...lost]) {
        expect(await read(each, position), position).toMatchObject({ gap: true, reset: true, messages: [] });
      }
    }
    await expect.poll(() => subscriber.gaps).toBe(1);
    const from = await endOf(bus, "a");
    await bus.publish("a", "6");
    await bus.publish("a", "7");
    expect(texts(await readAll(bus, "a", from))).toEqual(["6", "7"]);
    await expect.poll(() => texts(subscriber.received).slice(-2)).toEqual(["6", "7"]);
    expect(subscriber.gaps).toBe(1);
    subscriber.stop();
  });

  it("gets one warning with the fix, and delivers without a gap while it runs, also after a lost connection", async () => {
    const server = await startRedis();
    const { bus, warnings } = openRedis(server.url);
    const from = await endOf(bus, "a");
    for (let round = 0; round < 3; round++) {
      await bus.publish("a", `${round}`);
      await server.client().client("KILL", "TYPE", "normal");
    }
    expect(texts(await readAll(bus, "a", from))).toEqual(["0", "1", "2"]);
    expect(warnings()).toEqual([expect.stringContaining("The bus is a Redis without append-only file")]);
  });

  it("that gets an append-only file while it runs keeps its positions, for processes that connect before and after", async () => {
    const server = await startRedis();
    const { bus } = openRedis(server.url);
    const from = await endOf(bus, "a");
    await bus.publish("a", "1");
    await server.client().config("SET", "appendonly", "yes");
    expect(texts(await readAll(openRedis(server.url).bus, "a", from))).toEqual(["1"]);
    await bus.publish("a", "2");
    expect(texts(await readAll(bus, "a", from))).toEqual(["1", "2"]);
  });
});

describe("a Redis with append-only file", () => {
  it("gets no warning, and no gap after a crash", async () => {
    const server = await startRedis({ appendOnly: true });
    const { bus, warnings } = openRedis(server.url);
    const from = await endOf(bus, "a");
    await bus.publish("a", "1");
    await server.kill();
    await server.restart();
    expect(texts(await readAll(bus, "a", from))).toEqual(["1"]);
    expect(warnings()).toEqual([]);
  });
});

describe("a Redis whose user may not run INFO", () => {
  const allowUser = (server: RedisServer) =>
    server.client().call("ACL", "SETUSER", "app", "on", ">mellon", "~*", "&*", "+@all", "-info");

  async function startRestricted() {
    const server = await startRedis();
    await allowUser(server);
    const crash = async () => {
      await server.kill();
      await server.restart();
      await allowUser(server);
    };
    return { server, url: server.url.replace("redis://", "redis://app:mellon@"), crash };
  }

  it("gets a warning, and every new connection of a process starts a new epoch", async () => {
    const { server, url, crash } = await startRestricted();
    const { bus, warnings } = openRedis(url);
    const from = await endOf(bus, "a");
    await bus.publish("a", "1");
    expect(texts(await readAll(bus, "a", from))).toEqual(["1"]);
    expect(warnings()).toEqual([expect.stringContaining("whose user may not run INFO")]);
    await server.client().save();
    await bus.publish("a", "2");
    await crash();
    await expect.poll(() => bus.read("a", from, LIMIT).catch(() => ({}))).toMatchObject({ gap: true });
    const after = await endOf(bus, "a");
    await bus.publish("a", "3");
    expect(texts(await readAll(bus, "a", after))).toEqual(["3"]);
  });

  it("that was set back to an earlier epoch than the last one has a new epoch", async () => {
    const { server, url, crash } = await startRestricted();
    const { bus } = openRedis(url);
    const from = await endOf(bus, "a");
    await server.client().save();
    await bus.publish("a", "lost");
    // Another process starts a new epoch, which the saved data do not contain.
    await openRedis(`${url}/0`).bus.position([]);
    expect(await read(bus, from)).toMatchObject({ gap: true });
    await crash();
    await expect.poll(() => bus.read("a", from, LIMIT).catch(() => ({}))).toMatchObject({ gap: true, reset: true });
  });
});

describe("a NATS stream that was set back to an earlier state", () => {
  it("has a new epoch if a process has seen a later message: every position gets a gap, in every process", async () => {
    const server = await NatsServer.start();
    cleanups.push(() => server.stop());
    const open = () => {
      const { log, lines } = recordedLog();
      const bus = nats({ url: server.url, namespace: "shop", log });
      cleanups.push(() => bus.close());
      return { bus, lines };
    };
    const { bus, lines } = open();
    const start = await endOf(bus, "a");
    const kept = await bus.publish("a", "1");
    await server.kill();
    server.save();
    await server.restart();
    const lost = [await bus.publish("a", "2"), await bus.publish("a", "3")];
    await server.kill();
    server.restore();
    await server.restart();
    for (const position of [start, kept, ...lost]) {
      expect(await read(bus, position), position).toMatchObject({ gap: true, reset: true });
    }
    expect(lines.map(({ message }) => message)).toContain(
      "The stream was set back to an earlier state; feeds get a gap",
    );
    const later = open().bus;
    for (const position of [start, kept, ...lost]) {
      expect(await read(later, position), position).toMatchObject({ gap: true, reset: true });
    }
    const from = await endOf(later, "a");
    expect(from > (lost[1] ?? "")).toBe(true);
    await bus.publish("a", "4");
    expect(texts(await readAll(later, "a", from))).toEqual(["4"]);
    await server.kill();
    await server.restart();
    expect(texts(await readAll(bus, "a", from))).toEqual(["4"]);
  });
});

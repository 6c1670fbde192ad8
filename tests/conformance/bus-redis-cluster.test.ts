/**
 * The bus and the rate limit in a Redis cluster. A real one: Redis refuses a script with keys of several hash slots
 * (CROSSSLOT), and a script that uses a key which it does not declare.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { RedisServer, redisHasTls } from "#test/redis-server";
import { singleLimit } from "#test/single-limit";
import { trustCertificate } from "#test/trusted-certificate";
import { openRateStore } from "../../src/backends/index.ts";
import { redis } from "../../src/backends/redis/bus.ts";
import { endOf, readAll, TestSubscriber } from "./bus.ts";

const { log, lines } = recordedLog();
let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start({ appendOnly: true, clusterSlots: [0, 16_383] });
  await server.formCluster();
});

afterAll(() => server?.stop());

it("a bus and a rate limit in a Redis cluster keep all their keys in one hash slot, so that every script runs", async () => {
  const target = { url: server.url, namespace: "shop" };
  const buses = [redis({ ...target, log }), redis({ ...target, log })] as const;
  const rate = openRateStore({ redis: () => target, log });
  const subscriber = await TestSubscriber.start(buses[1], "room:1");
  const from = await endOf(buses[0], "room:1");
  for (const text of ["1", "2"]) await buses[0].publish("room:1", text);
  await buses[0].publish("{other}", "3");
  expect((await readAll(buses[1], "room:1", from)).map(({ data }) => data)).toEqual(["1", "2"]);
  await expect.poll(() => subscriber.received.map(({ data }) => data)).toEqual(["1", "2"]);
  expect(await buses[0].position(["room:1", "{other}", "}{"])).toHaveLength(3);
  await rate.start();
  const { take } = singleLimit(rate, { calls: 2, seconds: 60 });
  expect([await take("a"), await take("a"), (await take("a")) > 0]).toEqual([0, 0, true]);
  const keys = await server.client().keys("*");
  expect(keys.length).toBeGreaterThan(5);
  const slots = await Promise.all(keys.map((key) => server.client().cluster("KEYSLOT", key)));
  expect(new Set(slots).size).toBe(1);
  expect(lines).toEqual([]);
  subscriber.stop();
  for (const each of [...buses, rate]) await each.close();
});

it("a bus finds the node of a Redis cluster that serves its slot, whichever node its URL names, also with TLS", async () => {
  const certificate = redisHasTls ? trustCertificate() : undefined;
  const nodes = [
    await RedisServer.start({ clusterSlots: [0, 8_191], certificate }),
    await RedisServer.start({ clusterSlots: [8_192, 16_383], certificate }),
  ] as const;
  try {
    await nodes[0].formCluster(nodes[1]);
    const served = new Set<boolean>();
    for (const namespace of ["a", "b", "c", "d"]) {
      served.add((await nodes[0].client().cluster("KEYSLOT", `tsweb:{${namespace}}:epoch`)) < 8_192);
      const target = { url: nodes[0].url, namespace };
      const [first, second] = [redis({ ...target, log }), redis({ ...target, url: nodes[1].url, log })];
      const rate = openRateStore({ redis: () => target, log });
      const subscriber = await TestSubscriber.start(second, "room:1");
      await first.publish("room:1", "1");
      await expect.poll(() => subscriber.received.map(({ data }) => data)).toEqual(["1"]);
      await second.revocations?.append("u:0");
      expect((await first.revocations?.read(null))?.entries).toHaveLength(1);
      expect([await first.check?.(), await first.storedFingerprints?.()]).toEqual([[expect.anything()], []]);
      await rate.start();
      const { take } = singleLimit(rate, { calls: 2, seconds: 60 });
      expect([await take("a"), await take("a"), (await take("a")) > 0]).toEqual([0, 0, true]);
      subscriber.stop();
      for (const each of [first, second, rate]) await each.close();
    }
    expect(served.size, "namespaces on both nodes").toBe(2);
    if (certificate) expect([...certificate.verifiedHosts]).toEqual(["127.0.0.1"]);
  } finally {
    certificate?.remove();
    for (const node of nodes) await node.stop();
  }
});

it("a slot that moves to another node while a bus uses it is followed, and its messages are delivered", async () => {
  const nodes = [
    await RedisServer.start({ clusterSlots: [0, 8_191], appendOnly: true }),
    await RedisServer.start({ clusterSlots: [8_192, 16_383], appendOnly: true }),
  ] as const;
  const bus = redis({ url: nodes[0].url, namespace: "shop", log });
  try {
    await nodes[0].formCluster(nodes[1]);
    const subscriber = await TestSubscriber.start(bus, "room:1");
    await bus.publish("room:1", "1");
    const slot = await nodes[0].client().cluster("KEYSLOT", "tsweb:{shop}:epoch");
    const [from, to] = slot < 8_192 ? nodes : [nodes[1], nodes[0]];
    await from.migrateSlot(slot, to);
    await bus.publish("room:1", "2");
    await bus.publish("room:1", "3");
    await expect.poll(() => subscriber.received.map(({ data }) => data)).toEqual(["1", "2", "3"]);
    expect(subscriber.gaps).toBe(0);
    subscriber.stop();
  } finally {
    await bus.close();
    for (const node of nodes) await node.stop();
  }
});

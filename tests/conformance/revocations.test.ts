import { rm } from "node:fs/promises";
import { jetstreamManager, type StreamConfig } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NatsServer } from "#test/nats-server";
import { recordedLog } from "#test/recorded-log";
import { RedisServer } from "#test/redis-server";
import { TemporaryFolder } from "#test/temporary-folder";
import { type Bus, memory } from "../../src/backends/index.ts";
import { nats } from "../../src/backends/nats/bus.ts";
import { revocationsStreamName } from "../../src/backends/nats/revocations.ts";
import { redis } from "../../src/backends/redis/bus.ts";
import { fileRevocations, type RevocationStore, subjectOfUser } from "../../src/revocation/index.ts";
import { describeRevocationStore, type StoreProvider } from "./revocations.ts";

const { log } = recordedLog();
let redisServer: RedisServer;
let natsServer: NatsServer;
const folder = new TemporaryFolder("revocations");

beforeAll(async () => {
  [redisServer, natsServer] = await Promise.all([RedisServer.start({ appendOnly: true }), NatsServer.start()]);
});

afterAll(async () => {
  await Promise.all([redisServer?.stop(), natsServer?.stop()]);
  folder.remove();
});

/** Returns the store of a bus. */
function storeOf({ revocations }: Bus): RevocationStore {
  if (!revocations) throw new Error("The bus has no store of revocations.");
  return revocations;
}

/** Returns a provider whose stores are those of buses. */
function busProvider(openBus: (namespace: string) => Bus): StoreProvider {
  const buses: Bus[] = [];
  return {
    isShared: true,
    open(namespace) {
      const bus = openBus(namespace);
      buses.push(bus);
      return storeOf(bus);
    },
    async close() {
      for (const bus of buses.splice(0)) await bus.close();
    },
  };
}

const redisBus = (namespace: string) => redis({ url: redisServer.url, namespace, log });
const natsBus = (namespace: string) => nats({ url: natsServer.url, namespace, log });

describeRevocationStore("memory", {
  isShared: false,
  open: () => storeOf(memory()),
  close: async () => undefined,
});

describeRevocationStore("files", {
  isShared: true,
  open: (name) => fileRevocations(`${folder.path}/${name}`),
  close: async () => undefined,
  empty: (name) => rm(`${folder.path}/${name}`, { recursive: true }),
});

describeRevocationStore("Redis", {
  ...busProvider(redisBus),
  async empty() {
    await redisServer.client().flushall();
  },
});

describeRevocationStore("NATS", {
  ...busProvider(natsBus),
  async empty(namespace) {
    const connection = await connect({ servers: natsServer.url });
    const manager = await jetstreamManager(connection);
    await manager.streams.delete(revocationsStreamName(namespace));
    await connection.close();
  },
});

it.each<[string, Partial<StreamConfig>]>([
  ["in memory", { storage: "memory" }],
  ["for less than 8 days", { max_age: 8 * 86_400 * 1e9 - 1e9 }],
  ["for fewer than 1,000,000 entries", { max_msgs: 999_999 }],
  ["in fewer than 256 MiB", { max_bytes: 256 * 1024 ** 2 - 1 }],
])(
  "refuses a stream of NATS that keeps revocations %s, so that no revoked session is accepted again [SESSION-33]",
  async (name, limit) => {
    const namespace = name.replaceAll(/\W/g, "-");
    const stream = revocationsStreamName(namespace);
    const connection = await connect({ servers: natsServer.url });
    const { streams } = await jetstreamManager(connection);
    const config = { name: stream, subjects: [`tsweb.revoked.${namespace}`], deny_delete: true, deny_purge: true };
    await streams.add({ ...config, ...limit });
    const bus = natsBus(namespace);
    const refusal = `stream ${stream} the bus cannot use. Its settings: storage, max_age, max_msgs, max_bytes`;
    await expect(storeOf(bus).read(null)).rejects.toThrow(refusal);
    await expect(storeOf(bus).append(subjectOfUser("ada"))).rejects.toThrow(refusal);
    await expect(bus.check?.()).rejects.toThrow(refusal);
    await bus.close();
    await streams.delete(stream);
    await connection.close();
  },
);

describe("a revocation that was confirmed", () => {
  it.each([
    ["Redis", () => redisServer, redisBus],
    ["NATS", () => natsServer, natsBus],
  ])("is not lost when %s is killed at any moment and started again [SESSION-29]", async (_name, serverOf, openBus) => {
    const namespace = `killed-${process.pid}`;
    const bus = openBus(namespace);
    const confirmed: string[] = [];
    let isKilled = false;
    const appending = (async () => {
      for (let n = 0; !isKilled; n++) {
        const subject = subjectOfUser(`user ${n}`);
        await storeOf(bus).append(subject);
        confirmed.push(subject);
      }
    })().catch(() => undefined); // the one that the kill has interrupted
    await expect.poll(() => confirmed.length).toBeGreaterThan(20);
    await serverOf().kill();
    isKilled = true;
    await appending;
    await serverOf().restart();
    await bus.close();
    const reader = openBus(namespace);
    const { entries } = await storeOf(reader).read(null);
    await reader.close();
    expect(entries.map(({ subject }) => subject)).toEqual(expect.arrayContaining(confirmed));
  });
});

/**
 * `tsweb check --production` with a real bus.
 */
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterEach, expect, it } from "vitest";
import { NatsServer } from "#test/nats-server";
import { RedisServer, type RedisServerOptions } from "#test/redis-server";
import { nats } from "../../src/backends/nats/bus.ts";
import { redis } from "../../src/backends/redis/bus.ts";
import { checkBus } from "../../src/cli/check.ts";
import { secretFingerprints } from "../../src/session/index.ts";

const SECRET = "8f1d0c3b5a79264e8f1d0c3b5a79264f17e2d4c6b8a09f3e5d7c1b2a4f6e8d0c";
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startRedis(options?: RedisServerOptions): Promise<RedisServer> {
  const server = await RedisServer.start(options);
  cleanups.push(() => server.stop());
  return server;
}

const check = (url: string) => checkBus({ WEB_AUTH_SECRET: SECRET, WEB_BUS_URL: url });

it("accepts a Redis with append-only file, and writes nothing there", async () => {
  const server = await startRedis({ appendOnly: true });
  expect(await check(server.url)).toEqual({ problems: [], warnings: [], notes: [], reached: server.url });
  expect(await server.client().keys("*")).toEqual([]);
});

it("names the server that was reached without its password", async () => {
  const server = await startRedis({ appendOnly: true });
  await server.client().call("ACL", "SETUSER", "app", "on", ">mellon", "~*", "&*", "+@all");
  const result = await check(server.url.replace("redis://", "redis://app:mellon@"));
  expect(result.reached).toBe(server.url);
});

it("reports a Redis without append-only file, and one that deletes keys when it is full, with the fix", async () => {
  const server = await startRedis();
  await server.client().config("SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru");
  const { problems, notes } = await check(server.url);
  expect(problems.map(({ fix }) => fix)).toEqual([
    expect.stringContaining("redis-cli CONFIG SET appendonly yes"),
    expect.stringContaining("redis-cli CONFIG SET maxmemory-policy noeviction"),
  ]);
  expect(notes).toEqual([]);
});

it("reports a Redis whose user may not run INFO: whether it is durable is unknown", async () => {
  const server = await startRedis({ appendOnly: true });
  await server.client().call("ACL", "SETUSER", "app", "on", ">mellon", "~*", "&*", "+@all", "-info");
  const { problems } = await check(server.url.replace("redis://", "redis://app:mellon@"));
  expect(problems.map(({ fix }) => fix)).toEqual([expect.stringContaining("ACL SETUSER <user> +info")]);
  expect(JSON.stringify(problems)).not.toContain("mellon");
});

it("reports a NATS stream with holes, accepts a server without the stream, and creates none", async () => {
  const server = await NatsServer.start();
  cleanups.push(() => server.stop());
  const connection = await connect({ servers: server.url });
  cleanups.push(() => connection.close());
  const { streams } = await jetstreamManager(connection);
  const nothing = { problems: [], warnings: [], notes: [], reached: server.url };
  expect(await check(`${server.url}?namespace=shop`)).toEqual(nothing);
  expect((await streams.list().next()).length).toBe(0);
  await streams.add({ name: "tsweb-live-shop", subjects: ["tsweb.live.shop.*"], max_msgs_per_subject: 3 });
  const { problems } = await check(`${server.url}?namespace=shop`);
  expect(problems).toMatchObject([{ fix: expect.stringContaining("nats stream rm tsweb-live-shop") }]);
});

it.each(["redis://:mellon@127.0.0.1:1", "nats://u:mellon@127.0.0.1:1"])(
  "says that an unreachable bus was not checked: %s",
  async (url) => {
    const { problems, notes, unreachable } = await check(url);
    expect([problems, notes]).toEqual([[], []]);
    expect(unreachable).toMatch(/^WEB_BUS_URL was not checked, because its server is unreachable/);
    expect(unreachable).not.toContain("mellon");
  },
);

it("prints that the application has to install a bus for several processes without WEB_BUS_URL", async () => {
  const { problems, notes } = await checkBus({ WEB_AUTH_SECRET: SECRET, WEB_WORKERS: "4" });
  expect(problems).toEqual([]);
  expect(notes).toEqual([expect.stringContaining("src/app.ts has to call realtime.use_bus")]);
});

it("checks nothing in an invalid environment, whose problems are reported on their own", async () => {
  expect(await checkBus({ WEB_BUS_URL: "redis://127.0.0.1:1" })).toEqual({ problems: [], warnings: [], notes: [] });
});

it.each([
  ["Redis", () => startRedis({ appendOnly: true }), redis],
  [
    "NATS",
    async () => {
      const server = await NatsServer.start();
      cleanups.push(() => server.stop());
      return server;
    },
    nats,
  ],
] as const)(
  "recognises a change of the secret whose first phase was left out, with %s",
  async (_name, startServer, openBus) => {
    const url = `${(await startServer()).url}?namespace=shop`;
    const bus = openBus({ url });
    cleanups.push(() => bus.close());
    const [old, fresh] = [SECRET, SECRET.replaceAll("8", "7")];
    bus.identify?.(secretFingerprints([Buffer.from(old, "hex")]));
    await bus.position([]);
    const warningsOf = async (env: Readonly<Record<string, string>>) =>
      (await checkBus({ WEB_BUS_URL: url, ...env })).warnings;
    expect(await warningsOf({ WEB_AUTH_SECRET: fresh, WEB_AUTH_SECRET_PREVIOUS: old })).toEqual([
      expect.stringContaining("WEB_AUTH_SECRET is unknown to every process"),
    ]);
    expect(await warningsOf({ WEB_AUTH_SECRET: old, WEB_AUTH_SECRET_PREVIOUS: fresh })).toEqual([]);
  },
);

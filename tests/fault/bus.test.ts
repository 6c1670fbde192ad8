import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { Redis } from "ioredis";
import { NatsServer } from "#test/nats-server";
import { RedisServer } from "#test/redis-server";
import { nats } from "../../src/backends/nats/bus.ts";
import { redis } from "../../src/backends/redis/bus.ts";
import { busFaultTests } from "./bus.ts";

busFaultTests("in Redis", {
  start: (password) => RedisServer.start({ appendOnly: true, ...(password === undefined ? {} : { password }) }),
  open: (url, log) => redis({ url, log }),
  async disconnectListeners(url) {
    const client = new Redis(url);
    await client.client("KILL", "TYPE", "pubsub");
    client.disconnect();
  },
  service: "Redis",
});

busFaultTests("in NATS", {
  start: (password) => NatsServer.start(password === undefined ? {} : { password }),
  open: (url, log) => nats({ url, log }),
  async disconnectListeners(url) {
    const connection = await connect({ servers: url });
    const { consumers } = await jetstreamManager(connection);
    for await (const { name } of consumers.list("tsweb-live-tsweb")) await consumers.delete("tsweb-live-tsweb", name);
    await connection.close();
  },
  service: "NATS",
});

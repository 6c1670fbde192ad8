import { afterAll, expect } from "vitest";
import { NatsServer } from "#test/nats-server";
import { recordedLog } from "#test/recorded-log";
import { RedisServer } from "#test/redis-server";
import { memory } from "../../src/backends/index.ts";
import { nats } from "../../src/backends/nats/bus.ts";
import { redis } from "../../src/backends/redis/bus.ts";
import { busTests } from "./bus.ts";

const { log, lines } = recordedLog();

afterAll(() => {
  expect(lines).toEqual([]);
});

busTests("in memory", async () => {
  let bus = memory({ messages: 20_000 });
  return {
    open: () => bus,
    openSmall: () => memory({ messages: 20 }),
    async loseMessages() {
      bus = memory(); // a new bus in memory has no messages
      return bus;
    },
    stop: async () => undefined,
  };
});

busTests("in Redis", async () => {
  const server = await RedisServer.start({ appendOnly: true });
  return {
    open: () => redis({ url: server.url, log }),
    openSmall: () => redis({ url: server.url, log, messages: 20 }),
    async loseMessages() {
      await server.client().flushall();
      return redis({ url: server.url, log });
    },
    stop: () => server.stop(),
  };
});

busTests("in NATS", async () => {
  const server = await NatsServer.start();
  return {
    open: () => nats({ url: server.url, log }),
    openSmall: () => nats({ url: server.url, log, namespace: "small", bytes: 50_000 }),
    async loseMessages() {
      await server.deleteStream("tsweb-live-tsweb");
      return nats({ url: server.url, log });
    },
    stop: () => server.stop(),
  };
});

/**
 * Two applications in one namespace by mistake: the second one is refused. Processes of one application are accepted,
 * also while its secret is replaced.
 */
import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { NatsServer } from "#test/nats-server";
import { recordedLog } from "#test/recorded-log";
import { RedisServer } from "#test/redis-server";
import { type Bus, startBus } from "../../src/backends/index.ts";
import { nats } from "../../src/backends/nats/bus.ts";
import { redis } from "../../src/backends/redis/bus.ts";
import type { Logger } from "../../src/logging/index.ts";
import { secretFingerprint } from "../../src/session/index.ts";

interface Fixture {
  start(): Promise<TestServer>;
  open(options: { url: string; namespace?: string; log: Logger }): Bus;
  /** Deletes the record, as the message of the refusal describes. */
  deleteRecord(server: TestServer, command: string): Promise<void>;
}

interface TestServer {
  readonly url: string;
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const [A, B, C] = [1, 2, 3].map(() => randomBytes(32)) as [Buffer, Buffer, Buffer];

function secretsTests(name: string, { start, open, deleteRecord }: Fixture): void {
  describe(`the secrets of processes on a bus ${name}`, () => {
    async function startServer(): Promise<TestServer> {
      const server = await start();
      cleanups.push(() => server.stop());
      return server;
    }

    /** Opens the bus of a process that has these secrets, current one first. */
    function openWith(server: TestServer, secrets: readonly Buffer[], namespace = "shop") {
      const { log, lines } = recordedLog();
      const bus = open({ url: server.url, namespace, log });
      if (secrets.length > 0) bus.identify?.(secrets.map(secretFingerprint));
      cleanups.push(() => bus.close());
      return { bus, lines, log };
    }

    it("refuses a process that shares none with the others, for every operation, with the fix [LIVE-12]", async () => {
      const server = await startServer();
      await openWith(server, [A]).bus.publish("room", "1");
      const { bus } = openWith(server, [B]);
      for (const operation of [
        () => bus.publish("room", "2"),
        () => bus.position(["room"]),
        () => bus.read("room", "0", { messages: 1, bytes: 1 }),
        () => bus.watch("room", () => undefined),
        () => startBus(bus, { log: recordedLog().log, isInUse: () => true }),
      ]) {
        const error = await operation().catch((reason: unknown) => reason);
        expect(error).toMatchObject({ name: "ConfigError" });
        const { message } = error as Error;
        expect(message).toContain('another application uses the namespace "shop"');
        expect(message).toContain("choose another namespace: end the URL with ?namespace=");
        expect(message).toContain("list the replaced secret in WEB_AUTH_SECRET_PREVIOUS");
      }
      await openWith(server, [B], "blog").bus.publish("room", "1");
      await openWith(server, [A]).bus.publish("room", "2");
    });

    it("accepts a replaced secret over several deployments, in any order of the processes", async () => {
      const server = await startServer();
      const deployments = [[A], [B, A], [A], [B], [C, B], [B], [A], [C], [C, A]];
      for (const secrets of deployments) await openWith(server, secrets).bus.position(["room"]);
      await expect(openWith(server, [randomBytes(32)]).bus.position(["room"])).rejects.toThrow("another application");
    });

    it("accepts one of two applications that start at the same time in an empty namespace", async () => {
      const server = await startServer();
      for (let round = 0; round < 5; round++) {
        const namespace = `shop-${round}`;
        const secrets = [A, B, A, B, A, B];
        const results = await Promise.all(
          secrets.map((secret) =>
            openWith(server, [secret], namespace)
              .bus.position(["room"])
              .then(
                () => secret,
                (error: Error) => error.name,
              ),
          ),
        );
        expect(results.filter((result) => result === "ConfigError")).toHaveLength(3);
        expect(new Set(results).size).toBe(2);
      }
    });

    it("accepts a script without secrets, and a second application of the process", async () => {
      const server = await startServer();
      const { bus } = openWith(server, [A]);
      await bus.publish("room", "1");
      await openWith(server, []).bus.publish("room", "2");
      bus.identify?.([secretFingerprint(B)]); // the other application of the process uses this bus too
      await bus.publish("room", "3");
      await openWith(server, [B]).bus.publish("room", "4");
    });

    it("accepts a new secret without the replaced one after the command in the message", async () => {
      const server = await startServer();
      await openWith(server, [A]).bus.position(["room"]);
      const { bus } = openWith(server, [B]);
      const { message } = (await bus.position(["room"]).catch((error: Error) => error)) as Error;
      const [, command = ""] = /at once: (.*)$/.exec(message) ?? [];
      await deleteRecord(server, command);
      await bus.position(["room"]);
    });

    it("does not delay the start by an unreachable server, and logs the refusal when it is reachable", async () => {
      const server = await startServer();
      await openWith(server, [A]).bus.position(["room"]);
      await server.kill();
      const { bus, lines, log } = openWith(server, [B]);
      const started = startBus(bus, { log, isInUse: () => true }).then(() => "started");
      const rejected = bus.position(["room"]).catch(() => "rejected"); // after 2 seconds
      expect(await Promise.race([started, rejected])).toBe("started");
      await server.restart();
      await expect
        .poll(() => lines.filter(({ level }) => level === "error").map(({ message }) => message))
        .toEqual([expect.stringContaining("another application uses the namespace")]);
      await expect(bus.position(["room"])).rejects.toThrow("another application");
    });
  });
}

secretsTests("in Redis", {
  start: () => RedisServer.start({ appendOnly: true }),
  open: (options) => redis(options),
  async deleteRecord(server, command) {
    expect(command).toBe("redis-cli DEL 'tsweb:{shop}:secrets'");
    expect(await (server as RedisServer).client().del("tsweb:{shop}:secrets")).toBe(1);
  },
});

secretsTests("in NATS", {
  start: () => NatsServer.start(),
  open: (options) => nats(options),
  async deleteRecord(server, command) {
    expect(command).toBe("nats stream rm tsweb-secrets-shop");
    await (server as NatsServer).deleteStream("tsweb-secrets-shop");
  },
});

describe("the record of the secrets in Redis", () => {
  it("contains no secret, expires with the messages, and has at most 64 fingerprints [LIVE-13]", async () => {
    const server = await RedisServer.start({ appendOnly: true });
    cleanups.push(() => server.stop());
    const bus = redis({ url: server.url, namespace: "shop", log: recordedLog().log });
    cleanups.push(() => bus.close());
    const secrets = [A, ...Array.from({ length: 99 }, () => randomBytes(32))];
    bus.identify?.(secrets.map(secretFingerprint));
    await bus.position([]);
    const client = server.client();
    const record = await client.zrange("tsweb:{shop}:secrets", "0", "-1");
    expect(record).toHaveLength(64);
    for (const fingerprint of record) expect(fingerprint).toMatch(/^[\w-]{16}$/);
    const stored = secrets.flatMap((secret) => ["hex", "base64", "base64url"].map((e) => secret.toString(e as "hex")));
    expect(stored.some((text) => record.some((fingerprint) => text.includes(fingerprint)))).toBe(false);
    const ttl = await client.pttl("tsweb:{shop}:secrets");
    expect(ttl).toBeGreaterThan(24 * 3_600_000);
    expect(ttl).toBeLessThanOrEqual(24.5 * 3_600_000);
  });

  it("is in the database of the URL, also for the command that deletes it", async () => {
    const server = await RedisServer.start({ appendOnly: true });
    cleanups.push(() => server.stop());
    const open = (secret: Buffer) => {
      const bus = redis({ url: `${server.url}/1`, namespace: "shop", log: recordedLog().log });
      cleanups.push(() => bus.close());
      bus.identify?.([secretFingerprint(secret)]);
      return bus;
    };
    await open(A).position([]);
    await expect(open(B).position([])).rejects.toThrow("redis-cli -n 1 DEL 'tsweb:{shop}:secrets'");
    expect(await server.client({ db: 1 }).exists("tsweb:{shop}:secrets")).toBe(1);
  });
});

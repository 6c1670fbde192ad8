/**
 * The connection to Redis that a process shares: one for an address, refused at once while Redis is
 * away, back by itself, and without a password in any line of the log.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { recordedLog, type LogLine } from "#test/recorded-log";
import { RedisServer, type RedisServerOptions } from "#test/redis-server";
import { type RedisConnection, openRedisConnection } from "../../src/redis/index.ts";

const AWAY = "Redis is away; it is tried until it is back";
const BACK = "Redis is back";

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function startRedis(setup?: RedisServerOptions): Promise<RedisServer> {
  const server = await RedisServer.start(setup);
  opened.push({ close: () => server.stop() });
  return server;
}

function connect(url: string) {
  const { log, lines } = recordedLog();
  const connection = openRedisConnection(url, log);
  opened.push(connection);
  return { connection, lines };
}

const messages = (lines: readonly LogLine[]) => lines.map(({ message }) => message);

/** Waits until a connection takes commands. */
async function answers(connection: RedisConnection): Promise<void> {
  const redis = await connection.client();
  await expect.poll(() => redis.ping().catch(String), { timeout: 10_000 }).toBe("PONG");
}

/** The connections that this process's framework has to a server. */
async function countClients(server: RedisServer): Promise<number> {
  const list = String(await server.client().client("LIST"));
  return list.split("\n").filter((line) => / name=tsweb( |$)/.test(line)).length;
}

describe("the connection to a Redis", () => {
  it("is one for an address, made at its first use and ended by the last that lets go", async () => {
    const server = await startRedis();
    const [one, two] = [connect(server.url), connect(server.url)];
    expect(await countClients(server)).toBe(0);
    const [first, second] = await Promise.all([one.connection.client(), two.connection.client()]);
    expect(first).toBe(second);
    expect(await countClients(server)).toBe(1);
    await one.connection.close();
    await one.connection.close(); // twice is once
    expect(await second.ping()).toBe("PONG");
    await two.connection.close();
    await expect.poll(() => countClients(server)).toBe(0);
    expect([...one.lines, ...two.lines]).toEqual([]);
    // Whoever comes later gets one that lives.
    await answers(connect(server.url).connection);
  });

  it("answers what is in flight before it ends", async () => {
    const server = await startRedis();
    const { connection } = connect(server.url);
    const redis = await connection.client();
    const answer = redis.set("key", "value");
    await connection.close();
    expect(await answer).toBe("OK");
  });

  it("fails commands at once while Redis is away, and comes back; the log has a line for each", async () => {
    const server = await startRedis();
    const { connection, lines } = connect(server.url);
    await answers(connection);
    await server.kill();
    const redis = await connection.client();
    await expect.poll(() => redis.status).toBe("reconnecting");
    for (let at = 0; at < 100; at++) await expect(redis.ping()).rejects.toThrow();
    await server.restart();
    await answers(connection);
    expect(messages(lines)).toEqual([AWAY, BACK]);
    expect(lines[0]).toMatchObject({ level: "warn", fields: { redis: `127.0.0.1:${server.port}` } });
  });

  it("fails what is in flight when Redis goes, rather than keep it for later", async () => {
    const server = await startRedis();
    const { connection } = connect(server.url);
    await answers(connection);
    server.pause();
    const redis = await connection.client();
    const refused = expect(Promise.all([redis.ping(), redis.ping()])).rejects.toThrow();
    await server.kill();
    await refused;
  });

  it("is given when Redis was away from the beginning, and comes up with it", async () => {
    const server = await startRedis();
    await server.kill();
    const { connection, lines } = connect(server.url);
    const redis = await connection.client();
    await expect(redis.ping()).rejects.toThrow();
    expect(messages(lines)).toEqual([AWAY]);
    expect(lines[0]?.fields).toMatchObject({ reason: expect.stringContaining("ECONNREFUSED") });
    await server.restart();
    await answers(connection);
    expect(messages(lines)).toEqual([AWAY, BACK]);
  });

  it("gives a Redis up that hangs, and finds it again", async () => {
    const server = await startRedis();
    const { connection, lines } = connect(server.url);
    await answers(connection);
    server.pause();
    const redis = await connection.client();
    await expect(redis.ping()).rejects.toThrow();
    expect(messages(lines)).toEqual([AWAY]);
    server.resume();
    await answers(connection);
    expect(messages(lines)).toEqual([AWAY, BACK]);
  });

  it("ends in time while Redis hangs", async () => {
    const server = await startRedis();
    const { connection, lines } = connect(server.url);
    await answers(connection);
    server.pause();
    await connection.close();
    expect(messages(lines)).toEqual([]);
  });

  it("leaves a replica that takes no writes, to be led to the master", async () => {
    const server = await startRedis();
    const { connection, lines } = connect(server.url);
    const redis = await connection.client();
    const admin = server.client();
    await admin.replicaof("127.0.0.1", "1");
    await expect(redis.set("a", "1")).rejects.toThrow("READONLY");
    await admin.replicaof("NO", "ONE");
    await expect.poll(() => redis.set("a", "1").catch(String), { timeout: 10_000 }).toBe("OK");
    await expect.poll(() => messages(lines)).toEqual([AWAY, BACK]);
  });
});

describe("a database", () => {
  it("is that of the address", async () => {
    const server = await startRedis();
    const redis = await connect(`${server.url}/3`).connection.client();
    await redis.set("key", "value");
    expect(await server.client({ db: 3 }).get("key")).toBe("value");
  });

  it("that Redis does not have is refused, and another is not taken for it, then or later", async () => {
    const server = await startRedis();
    const { connection, lines } = connect(`${server.url}/99`);
    await expect(connection.client()).rejects.toThrow(/WEB_BUS_URL names a database .* out of range/);
    await expect(connection.client()).rejects.toThrow("WEB_BUS_URL");
    expect(messages(lines)).toEqual([AWAY]);
    await expect.poll(() => countClients(server)).toBe(0);
  });

  it.each(["/abc", "/1/2", "/-1", "/1.5"])("is not what is no number: %s", (path) => {
    expect(() => openRedisConnection(`redis://127.0.0.1:1${path}`, recordedLog().log)).toThrow("WEB_BUS_URL has a path");
  });
});

describe("a password", () => {
  it("signs in", async () => {
    const server = await startRedis({ password: "open-sesame" });
    const { connection, lines } = connect(server.url);
    await answers(connection);
    expect(connection.address).toBe(`127.0.0.1:${server.port}`);
    expect(lines).toEqual([]);
  });

  it.each([
    ["that is wrong", ":mellon-0@"],
    ["of a user that is unknown", "gandalf:mellon-0@"],
  ])("%s is told without it", async (_, credentials) => {
    const printed = [vi.spyOn(console, "warn"), vi.spyOn(console, "error"), vi.spyOn(console, "log")];
    const server = await startRedis({ password: "open-sesame" });
    const { connection, lines } = connect(`redis://${credentials}127.0.0.1:${server.port}/2`);
    const redis = await connection.client();
    await expect(redis.ping()).rejects.toThrow();
    expect(messages(lines)).toEqual([AWAY]);
    expect(lines[0]?.fields).toEqual({
      redis: `127.0.0.1:${server.port}/2`,
      reason: expect.stringContaining("WRONGPASS"),
    });
    expect(JSON.stringify([lines, printed.map(({ mock }) => mock.calls)])).not.toMatch(/mellon|gandalf/);
  });
});

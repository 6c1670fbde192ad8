/**
 * The shared connection of a process to Redis: one for each URL. It rejects commands at once while Redis is
 * unreachable, reconnects by itself, and logs no password.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { type LogLine, recordedLog } from "#test/recorded-log";
import { RedisServer, type RedisServerOptions } from "#test/redis-server";
import { openRedisConnection, type RedisConnection } from "../../src/backends/redis/client/index.ts";

const UNREACHABLE = "Redis is unreachable; retrying";
const REACHABLE = "Redis is reachable again";

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function startRedis(options?: RedisServerOptions): Promise<RedisServer> {
  const server = await RedisServer.start(options);
  opened.push({ close: () => server.stop() });
  return server;
}

function connect(url: string) {
  const { log, lines } = recordedLog();
  const reference = openRedisConnection(url, log);
  opened.push(reference);
  return { ...reference, lines };
}

const messages = (lines: readonly LogLine[]) => lines.map(({ message }) => message);

/** Waits until Redis replies to commands of a connection. */
async function untilConnected(connection: RedisConnection): Promise<void> {
  const redis = await connection.client();
  await expect.poll(() => redis.ping().catch(String)).toBe("PONG");
}

/** Returns the number of connections that this process's tsweb has to a server. */
async function countClients(server: RedisServer): Promise<number> {
  const list = String(await server.client().client("LIST"));
  return list.split("\n").filter((line) => / name=tsweb( |$)/.test(line)).length;
}

describe("a connection to Redis", () => {
  it("is shared for one URL, opened at its first use and closed when the last reference is released", async () => {
    const server = await startRedis();
    const [one, two] = [connect(server.url), connect(server.url)];
    expect(await countClients(server)).toBe(0);
    const [first, second] = await Promise.all([one.connection.client(), two.connection.client()]);
    expect(first).toBe(second);
    expect(await countClients(server)).toBe(1);
    await one.close();
    await one.close(); // the second call has no effect
    expect(await second.ping()).toBe("PONG");
    await two.close();
    await expect.poll(() => countClients(server)).toBe(0);
    expect([...one.lines, ...two.lines]).toEqual([]);
    // A connection that is opened later is a new one.
    await untilConnected(connect(server.url).connection);
  });

  it("waits for the reply to a command in flight before it is closed", async () => {
    const server = await startRedis();
    const { connection, close } = connect(server.url);
    const redis = await connection.client();
    const reply = redis.set("key", "value");
    await close();
    expect(await reply).toBe("OK");
  });

  it("rejects commands at once while Redis is unreachable, reconnects, and logs one line for each change", async () => {
    const server = await startRedis();
    const { connection, lines } = connect(server.url);
    await untilConnected(connection);
    await server.kill();
    const redis = await connection.client();
    await expect.poll(() => redis.status).toBe("reconnecting");
    for (let at = 0; at < 100; at++) await expect(redis.ping()).rejects.toThrow();
    await server.restart();
    await untilConnected(connection);
    expect(messages(lines)).toEqual([UNREACHABLE, REACHABLE]);
    expect(lines[0]).toMatchObject({ level: "warn", fields: { redis: `127.0.0.1:${server.port}` } });
  });

  it("rejects commands in flight when the connection is lost, and does not queue them", async () => {
    const server = await startRedis();
    const { connection } = connect(server.url);
    await untilConnected(connection);
    await server.pause();
    const redis = await connection.client();
    const rejected = expect(Promise.all([redis.ping(), redis.ping()])).rejects.toThrow();
    await server.kill();
    await rejected;
  });

  it("resolves while Redis is unreachable from the start, and connects when Redis is started", async () => {
    const server = await startRedis();
    await server.kill();
    const { connection, lines } = connect(server.url);
    const redis = await connection.client();
    await expect(redis.ping()).rejects.toThrow();
    expect(messages(lines)).toEqual([UNREACHABLE]);
    expect(lines[0]?.fields).toMatchObject({ reason: expect.stringContaining("ECONNREFUSED") });
    await server.restart();
    await untilConnected(connection);
    expect(messages(lines)).toEqual([UNREACHABLE, REACHABLE]);
  });

  it("closes the connection to a Redis that hangs, and reconnects when it continues", async () => {
    const server = await startRedis();
    const { connection, lines } = connect(server.url);
    await untilConnected(connection);
    await server.pause();
    const redis = await connection.client();
    await expect(redis.ping()).rejects.toThrow();
    expect(messages(lines)).toEqual([UNREACHABLE]);
    server.resume();
    await untilConnected(connection);
    expect(messages(lines)).toEqual([UNREACHABLE, REACHABLE]);
  });

  it("stays open after a restart of Redis that lost the reply to a command", async () => {
    vi.useFakeTimers({
      shouldAdvanceTime: true,
      toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"],
    });
    const server = await startRedis();
    const { connection, lines } = connect(server.url);
    await untilConnected(connection);
    await server.pause();
    const redis = await connection.client();
    const rejected = expect(redis.ping()).rejects.toThrow();
    await server.kill();
    await rejected;
    await server.restart();
    await untilConnected(connection);
    // Longer than a reply to the lost command may take. Nothing of it may affect the new connection.
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await redis.ping()).toBe("PONG");
    expect([connection.generation, messages(lines)]).toEqual([2, [UNREACHABLE, REACHABLE]]);
  });

  it("is closed in time while Redis hangs", async () => {
    const server = await startRedis();
    const { connection, lines, close } = connect(server.url);
    await untilConnected(connection);
    await server.pause();
    await close();
    expect(messages(lines)).toEqual([]);
  });

  it("reconnects when Redis has become a read-only replica", async () => {
    const server = await startRedis();
    const { connection, lines } = connect(server.url);
    const redis = await connection.client();
    const admin = server.client();
    await admin.replicaof("127.0.0.1", "1");
    await expect(redis.set("a", "1")).rejects.toThrow("READONLY");
    await admin.replicaof("NO", "ONE");
    await expect.poll(() => redis.set("a", "1").catch(String)).toBe("OK");
    await expect.poll(() => messages(lines)).toEqual([UNREACHABLE, REACHABLE]);
  });
});

describe("the database of a connection", () => {
  it("is the one that the URL specifies", async () => {
    const server = await startRedis();
    const redis = await connect(`${server.url}/3`).connection.client();
    await redis.set("key", "value");
    expect(await server.client({ db: 3 }).get("key")).toBe("value");
  });

  it("causes a ConfigError at every use when Redis does not have it, and database 0 is not used instead", async () => {
    const server = await startRedis();
    const { connection, lines } = connect(`${server.url}/99`);
    await expect(connection.client()).rejects.toThrow(/WEB_BUS_URL names a database .* out of range/);
    await expect(connection.client()).rejects.toThrow("WEB_BUS_URL");
    expect(messages(lines)).toEqual([UNREACHABLE]);
    await expect.poll(() => countClients(server)).toBe(0);
  });

  it.each(["/abc", "/1/2", "/-1", "/1.5"])("causes a ConfigError when the path is not a number: %s", (path) => {
    expect(() => openRedisConnection(`redis://127.0.0.1:1${path}`, recordedLog().log)).toThrow(
      "WEB_BUS_URL has a path",
    );
  });
});

describe("the password of a connection", () => {
  it("authenticates the connection", async () => {
    const server = await startRedis({ password: "open-sesame" });
    const { connection, lines } = connect(server.url);
    await untilConnected(connection);
    expect(connection.address).toBe(`127.0.0.1:${server.port}`);
    expect(lines).toEqual([]);
  });

  it.each([
    ["a wrong password", ":mellon-0@"],
    ["an unknown user", "gandalf:mellon-0@"],
  ])("is not logged when Redis refuses %s [RESPONSE-19]", async (_, credentials) => {
    const printed = [vi.spyOn(console, "warn"), vi.spyOn(console, "error"), vi.spyOn(console, "log")];
    const server = await startRedis({ password: "open-sesame" });
    const { connection, lines } = connect(`redis://${credentials}127.0.0.1:${server.port}/2`);
    const redis = await connection.client();
    await expect(redis.ping()).rejects.toThrow();
    expect(messages(lines)).toEqual([UNREACHABLE]);
    expect(lines[0]?.fields).toEqual({
      redis: `127.0.0.1:${server.port}/2`,
      reason: expect.stringContaining("WRONGPASS"),
    });
    expect(JSON.stringify([lines, printed.map(({ mock }) => mock.calls)])).not.toMatch(/mellon|gandalf/);
  });
});

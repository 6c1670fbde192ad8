/**
 * A Redis with a replica, which is promoted without the last writes of its primary. Replication is asynchronous, so each
 * of these writes was acknowledged. Every page has to get a gap, and no process may miss a revocation.
 */
import { afterEach, describe, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { RedisServer } from "#test/redis-server";
import type { Bus, Position } from "../../src/backends/index.ts";
import { redis } from "../../src/backends/redis/bus.ts";
import { type LogPosition, type RevocationRead, subjectOfUser } from "../../src/revocation/index.ts";
import { endOf, readAll, whenResponding } from "../conformance/bus.ts";

const LIMIT = { messages: 100, bytes: 100_000 };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Starts a primary and its replica. The primary has the replica when this returns, or not yet with `isLate`. */
async function startPair({ isLate = false } = {}) {
  const primary = await RedisServer.start({ appendOnly: true });
  cleanups.push(() => primary.stop());
  const start = async () => {
    const replica = await RedisServer.start({ appendOnly: true, replicaOf: primary });
    cleanups.push(() => replica.stop());
    await replica.synchronize(primary);
    return replica;
  };
  return isLate ? { primary, start } : { primary, replica: await start(), start };
}

function open(server: RedisServer) {
  const { log, lines } = recordedLog();
  const bus = redis({ url: server.url, namespace: "shop", log });
  cleanups.push(() => bus.close());
  return { bus, messages: () => lines.map(({ message }) => message) };
}

/** Interrupts the replication: the replica keeps what it has received. */
async function interrupt(replica: RedisServer): Promise<void> {
  await replica.client().replicaof("127.0.0.1", 1);
}

async function promote(primary: RedisServer, replica: RedisServer): Promise<void> {
  await primary.kill();
  await replica.client().replicaof("NO", "ONE");
}

/** Reads a channel. The bus may need longer than the two seconds of a read to connect to a server that was promoted. */
const read = (bus: Bus, position: Position) => whenResponding(() => bus.read("a", position, LIMIT));

const texts = (messages: readonly { readonly data: string }[]) => messages.map(({ data }) => data);

describe("a replica that was promoted without the last messages of its primary", () => {
  it.each([
    ["that the primary had when the bus connected", false],
    ["that the primary got later", true],
  ])("%s has a new epoch: every position gets a gap, also one before the lost messages", async (_, isLate) => {
    const { primary, start, replica: early } = await startPair({ isLate });
    const { bus } = open(primary);
    const from = await endOf(bus, "a");
    const kept = await bus.publish("a", "1");
    const replica = early ?? (await start());
    await replica.synchronize(primary);
    await interrupt(replica);
    const lost = [await bus.publish("a", "2"), await bus.publish("a", "3")];
    await promote(primary, replica);
    const promoted = open(replica).bus;
    // The new messages have the sequences of the lost ones.
    await promoted.publish("a", "4");
    await promoted.publish("a", "5");
    for (const position of [from, kept, ...lost]) {
      expect(await read(promoted, position), position).toMatchObject({ gap: true, reset: true });
    }
    const after = await endOf(promoted, "a");
    await promoted.publish("a", "6");
    expect(texts(await readAll(promoted, "a", after))).toEqual(["6"]);
    expect(texts(await readAll(open(replica).bus, "a", after))).toEqual(["6"]);
  });

  it("has a new epoch also if it was started again before any process has used it", async () => {
    const { primary, replica } = await startPair();
    if (!replica) throw new Error("There is no replica.");
    const { bus } = open(primary);
    const kept = await bus.publish("a", "1");
    await replica.synchronize(primary);
    await interrupt(replica);
    await bus.publish("a", "2");
    await promote(primary, replica);
    await replica.kill();
    // Started as a primary, as its rewritten configuration says.
    await replica.restart({ isPrimary: true });
    const promoted = open(replica).bus;
    expect(await read(promoted, kept)).toMatchObject({ gap: true, reset: true });
  });
});

describe("a primary with a replica", () => {
  it("keeps its epoch when it gets its first replica and when connections are lost", async () => {
    const { primary, start } = await startPair({ isLate: true });
    const { bus } = open(primary);
    const from = await endOf(bus, "a");
    await bus.publish("a", "1");
    await start();
    expect(texts(await readAll(open(primary).bus, "a", from))).toEqual(["1"]);
    await primary.client().client("KILL", "TYPE", "normal");
    await bus.publish("a", "2");
    expect(texts(await readAll(bus, "a", from))).toEqual(["1", "2"]);
  });

  it("gets a warning with the fix if it accepts writes that no replica confirms, and none if it does not", async () => {
    const { primary } = await startPair();
    const { bus, messages } = open(primary);
    await bus.publish("a", "1");
    expect(messages()).toEqual([expect.stringContaining("is a Redis with replicas and without min-replicas-to-write")]);
    expect(await bus.check?.()).toEqual([
      expect.objectContaining({ fix: expect.stringContaining("CONFIG SET min-replicas-to-write 1") }),
    ]);
    await primary.client().config("SET", "min-replicas-to-write", "1");
    const { bus: later, messages: laterMessages } = open(primary);
    await later.publish("a", "2");
    expect([laterMessages(), await later.check?.()]).toEqual([[], []]);
  });
});

describe("a replica", () => {
  it("is not used: its operations fail with the reason until it is promoted, and succeed then", async () => {
    const { primary, replica } = await startPair();
    if (!replica) throw new Error("There is no replica.");
    const { bus } = open(replica);
    await expect(bus.position(["a"])).rejects.toThrow(/is a replica, which accepts no writes/);
    const publishing = bus.publish("a", "1");
    await promote(primary, replica);
    await publishing;
    expect(await bus.position(["a"])).toHaveLength(1);
  });
});

describe("revocations on a Redis with a replica", () => {
  const end = ({ epoch, end: seq }: RevocationRead): LogPosition => ({ epoch, seq });

  it("are rejected if no replica has confirmed them within a second, and confirmed ones survive its promotion [SESSION-31]", async () => {
    const { primary, replica } = await startPair();
    if (!replica) throw new Error("There is no replica.");
    const { revocations } = open(primary).bus;
    await revocations?.append(subjectOfUser("ada"));
    await replica.pause();
    await expect(revocations?.append(subjectOfUser("bob"))).rejects.toThrow(/No replica of Redis .* has confirmed/);
    await primary.kill();
    replica.resume();
    await replica.client().replicaof("NO", "ONE");
    const read = await open(replica).bus.revocations?.read(null);
    expect(read?.entries.map(({ subject }) => subject)).toContain(subjectOfUser("ada"));
  });

  it("are after those that the primary had and the replica has not, also if its clock is behind [SESSION-32]", async () => {
    const { primary, replica } = await startPair();
    if (!replica) throw new Error("There is no replica.");
    const before = open(primary).bus.revocations;
    await before?.append(subjectOfUser("ada"));
    await interrupt(replica);
    // The position of a process that has read entries of a primary whose clock was 30 seconds ahead.
    const read = await before?.read(null);
    if (!read) throw new Error("There are no revocations.");
    const position = { ...end(read), seq: read.end + 30_000 };
    await promote(primary, replica);
    const after = open(replica).bus.revocations;
    await after?.append(subjectOfUser("bob"));
    expect((await after?.read(position))?.entries.map(({ subject }) => subject)).toEqual([subjectOfUser("bob")]);
  });
});

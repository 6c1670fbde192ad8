import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createEventStreams, type EventStreams, expectMessages, FakeClient } from "#test/event-stream-client";
import { EventStream } from "./event-stream.ts";
import { FeedReader } from "./feed-reader.ts";

const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
let streamsOfProcess: EventStreams;
let bus: EventStreams["bus"];
let hub: EventStreams["hub"];
let connect: EventStreams["connect"];
let publishAll: EventStreams["publishAll"];

beforeEach(() => {
  vi.clearAllMocks();
  streamsOfProcess = createEventStreams(log);
  ({ bus, hub, connect, publishAll } = streamsOfProcess);
});
afterEach(() => streamsOfProcess.close());

describe("a slow client", () => {
  it("does not delay other clients, and receives the rest when it reads again", async () => {
    const slow = await connect(["a"]);
    const quick = await connect(["a"]);
    slow.client.isReading = false;
    await publishAll("a", [1]);
    await expectMessages(slow.client, [1]);
    const writes = slow.client.writes.length;
    await publishAll("a", [2, 3, 4]);
    await expectMessages(quick.client, [1, 2, 3, 4]);
    expect(slow.client.writes.length).toBe(writes);
    slow.client.isReading = true;
    slow.stream.onDrain();
    await expectMessages(slow.client, [1, 2, 3, 4]);
  });

  it("is sent at most 128 KiB at a time, and messages that the buffer has dropped are read from the bus", async () => {
    const slow = await connect(["a"]);
    await publishAll("a", ["first"]);
    await expectMessages(slow.client, ["first"]);
    slow.client.isReading = false;
    const messages = Array.from({ length: 100 }, (_, n) => `${n}${"x".repeat(10_000)}`);
    await publishAll("a", messages); // about 1 MB: more than the buffer keeps
    for (let writes = 0; slow.client.messages.length <= messages.length; ) {
      await expect.poll(() => slow.client.writes.length).toBeGreaterThan(writes);
      writes = slow.client.writes.length;
      slow.stream.onDrain();
    }
    expect(slow.client.messages).toEqual(["first", ...messages]);
    expect(Math.max(...slow.client.writes.map(({ length }) => length))).toBeLessThan(128 * 1024 + 20_000);
    expect(bus.readCount).toBeGreaterThan(0);
  });

  it("is disconnected after it has read nothing for 10 s, and not before", async () => {
    const { client, stream } = await connect(["a"]);
    client.isReading = false;
    await publishAll("a", [1]);
    await expectMessages(client, [1]);
    const now = performance.now();
    stream.tick(now + 9_000);
    expect(client.state).toBe("open");
    stream.tick(now + 10_000);
    expect(client.state).toBe("destroyed");
  });
});

describe("an event stream that is behind with several feeds", () => {
  const names = ["a", "b", "c", "d"];
  const text = "x".repeat(60_000);

  /** Publishes five messages to each channel. @returns the positions before them */
  async function publishBacklog(): Promise<string[]> {
    const positions = await bus.position(names);
    for (const name of names)
      await publishAll(
        name,
        [1, 2, 3, 4, 5].map((n) => `${name}${n}${text}`),
      );
    return positions;
  }

  /** Records the reads of the bus: how many run at the same time at most, and their results. */
  function recordReads() {
    const recorded = { maxPending: 0, results: [] as Awaited<ReturnType<typeof bus.read>>[] };
    let pending = 0;
    const read = bus.read;
    bus.read = async (...parameters) => {
      recorded.maxPending = Math.max(recorded.maxPending, ++pending);
      await new Promise(setImmediate);
      const result = await read(...parameters);
      pending--;
      recorded.results.push(result);
      return result;
    };
    return recorded;
  }

  const settle = async () => {
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
  };

  it("reads the bus for one of them at a time, at most 128 KiB, and delivers all messages", async () => {
    const positions = await publishBacklog();
    const reads = recordReads();
    const { client } = await connect(names, positions);
    await expect.poll(() => client.messages.length).toBe(20);
    expect(reads.maxPending).toBe(1);
    for (const { messages } of reads.results) {
      expect(messages.reduce((sum, { data }) => sum + data.length, 0)).toBeLessThanOrEqual(128 * 1024);
    }
    for (const name of names) {
      const ofChannel = client.messages.filter((message) => String(message).startsWith(name));
      expect(ofChannel).toEqual([1, 2, 3, 4, 5].map((n) => `${name}${n}${text}`));
    }
  });

  it("does not read the bus while the client has not read the last write [LIVE-8]", async () => {
    const positions = await publishBacklog();
    const reads = recordReads();
    const client = new FakeClient();
    client.isReading = false;
    const readers = names.map((name, i) => new FeedReader(name, positions[i] ?? ""));
    const stream = new EventStream(hub, client, { readers, gaps: [], hasShortIds: false, onClosed: vi.fn() });
    for (let drains = 0; client.messages.length < 20; drains++) {
      await settle();
      expect(reads.results.filter(({ messages }) => messages.length > 0).length).toBe(drains);
      stream.tick(performance.now());
      await settle();
      expect(reads.results.filter(({ messages }) => messages.length > 0).length).toBe(drains);
      stream.onDrain();
      await settle();
    }
    expect(new Set(client.messages).size).toBe(20);
    stream.onClose();
  });

  it("delivers a message once that is published during the read, when the buffer has it too", async () => {
    const read = bus.read;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    bus.read = async (...parameters) => {
      await released;
      return read(...parameters);
    };
    const { client } = await connect(["a", "b"]); // the first subscription to both: its buffers are not ready yet
    await settle();
    await publishAll("a", [1, 2]);
    await settle();
    release();
    await expectMessages(client, [1, 2]);
    await publishAll("a", [3]);
    await expectMessages(client, [1, 2, 3]);
  });

  it("serves its feeds in turns, so that a slow client does not get messages of one feed only", async () => {
    const positions = await publishBacklog();
    const { client, stream } = await connect(names, positions);
    client.isReading = false;
    for (let drains = 0; drains < 8; drains++) {
      await settle();
      stream.onDrain();
    }
    await settle();
    expect(new Set(client.messages.slice(0, 12).map((message) => String(message)[0])).size).toBe(4);
  });

  it("writes no more than 128 KiB of a bus that returns more, and reads the rest again", async () => {
    const positions = await publishBacklog();
    const read = bus.read;
    bus.read = (name, after) => read(name, after, { messages: 1_000, bytes: 10_000_000 });
    const { client } = await connect(names, positions);
    await expect.poll(() => client.messages.length).toBe(20);
    expect(new Set(client.messages).size).toBe(20);
    expect(Math.max(...client.writes.map(({ length }) => length))).toBeLessThan(129 * 1024);
  });
});

describe("when the bus loses its messages", () => {
  it("each feed gets one gap, and a new stream receives later messages", async () => {
    const { client } = await connect(["a", "b"]);
    await publishAll("a", [1]);
    await expectMessages(client, [1]);
    bus.loseHistory();
    await expect.poll(() => [...client.gaps].sort()).toEqual(["a reset", "b reset"]);
    await publishAll("a", [2]);
    const again = await connect(["a"]);
    await publishAll("a", [3]);
    await expectMessages(again.client, [3]);
    expect(client.messages).toEqual([1]);
    expect(client.gaps).toHaveLength(2);
    expect(client.lastId).toBe("-,-");
  });

  it("a new stream receives messages of after the gap only", async () => {
    const { client } = await connect(["a"]);
    await publishAll("a", [1]);
    await expectMessages(client, [1]);
    client.isReading = false;
    await publishAll("a", [2]);
    await expectMessages(client, [1, 2]);
    await publishAll("a", [3, 4]); // not read yet
    bus.loseHistory();
    await publishAll("a", [5]);
    client.isReading = true;
    const streams = await connect(["a"]);
    await publishAll("a", [6]);
    await expectMessages(streams.client, [6]);
  });
});

describe("when the bus is unreachable", () => {
  it("streams stay open, and catch up when it is reachable again", async () => {
    const { client, stream } = await connect(["a"]);
    await publishAll("a", [1]);
    await expectMessages(client, [1]);
    bus.suppressesNotifications = true;
    await publishAll("a", [2, 3]);
    bus.isUnreachable = true;
    bus.notifyAll();
    await expect.poll(() => log.warn).toHaveBeenCalledTimes(1);
    stream.tick(performance.now());
    expect(client.state).toBe("open");
    bus.isUnreachable = false;
    bus.suppressesNotifications = false;
    bus.notifyAll();
    await expectMessages(client, [1, 2, 3]);
    expect(client.gaps).toEqual([]);
  });

  it("new streams are accepted, and catch up when it is reachable", async () => {
    const positions = await bus.position(["a"]);
    await publishAll("a", [1]);
    bus.isUnreachable = true;
    const { client } = await connect(["a"], positions);
    await expect.poll(() => log.warn).toHaveBeenCalled();
    expect(client.state).toBe("open");
    bus.isUnreachable = false;
    await expect.poll(() => client.messages, { timeout: 5_000 }).toEqual([1]);
    await publishAll("a", [2]);
    await expectMessages(client, [1, 2]);
  });

  it("the log has each reason once a minute, and at most five of them", () => {
    const reasons = [
      "NOPERM this user has no permissions",
      "WRONGTYPE Operation",
      "The bus did not respond within 2 s.",
    ];
    for (const reason of [...reasons, ...reasons]) hub.busFailed(new Error(reason));
    expect(log.warn.mock.calls.map(([{ err }, message]) => [err.message, message])).toEqual(
      reasons.map((reason) => [
        reason,
        `Live updates are delayed, because the bus could not be read; retrying. ${reason}`,
      ]),
    );
    for (let n = 0; n < 100; n++) hub.busFailed(new Error(`Another reason ${n}`));
    expect(log.warn).toHaveBeenCalledTimes(5);
    vi.spyOn(performance, "now").mockReturnValue(performance.now() + 60_000);
    hub.busFailed(new Error(reasons[0]));
    expect(log.warn).toHaveBeenCalledTimes(6);
    vi.restoreAllMocks();
  });

  it("a read that hangs does not repeat messages", async () => {
    const { client } = await connect(["a"]);
    await publishAll("a", [1]);
    await expectMessages(client, [1]);
    bus.suppressesNotifications = true;
    await publishAll("a", [2]);
    bus.suppressesNotifications = false;
    bus.isHanging = true;
    bus.notifyAll();
    const publishing = publishAll("a", [3]);
    bus.isHanging = false;
    await publishing;
    await expectMessages(client, [1, 2, 3]);
  });
});

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

describe("messages of one turn of the event loop", () => {
  it("are sent in one write, without a read of the bus", async () => {
    const streams = await Promise.all([connect(["a"]), connect(["a"]), connect(["a"])]);
    await publishAll("a", ["first"]);
    for (const { client } of streams) await expectMessages(client, ["first"]);
    const before = streams.map(({ client }) => client.writes.length);
    const reads = bus.readCount;
    await Promise.all([1, 2, 3, 4].map((n) => bus.publish("a", String(n))));
    for (const { client } of streams) await expectMessages(client, ["first", 1, 2, 3, 4]);
    expect(streams.map(({ client }, i) => client.writes.length - (before[i] ?? 0))).toEqual([1, 1, 1]);
    expect(bus.readCount).toBe(reads);
  });

  it("are read from the bus once for many clients that missed the same ones", async () => {
    const [from = ""] = await bus.position(["a"]);
    await publishAll("a", [1, 2, 3]);
    const streams = await Promise.all(Array.from({ length: 50 }, () => connect(["a"], [from])));
    for (const { client } of streams) await expectMessages(client, [1, 2, 3]);
    expect(bus.readCount).toBeLessThan(5);
  });
});

/** Moves the end of the history during each read, as messages of other channels do on a shared bus. */
function moveEndDuringReads(): void {
  const read = bus.read;
  bus.read = async (channel, after, limit) => {
    await bus.publish("elsewhere", "1");
    const result = await read(channel, after, limit);
    await new Promise(setImmediate);
    return result;
  };
}

describe("on a bus whose end moves during each read", () => {
  it("streams without new messages do not read the bus", async () => {
    moveEndDuringReads();
    const streams = [await connect(["quiet"]), await connect(["quiet"]), await connect(["quiet", "silent"])];
    const readsWhenIdle = async () => {
      for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
      return bus.readCount;
    };
    const reads = await readsWhenIdle();
    for (let ticks = 0; ticks < 5; ticks++) {
      for (const { stream } of streams) stream.tick(performance.now());
      await readsWhenIdle();
    }
    expect(bus.readCount).toBe(reads);
    await publishAll("quiet", [1, 2]);
    for (const { client } of streams) await expectMessages(client, [1, 2]);
    expect(bus.readCount).toBe(reads);
  });

  it("a stream that is opened at any moment receives all later messages, in order and once", async () => {
    moveEndDuringReads();
    const opened: { from: number; client: FakeClient }[] = [];
    for (let n = 0; n < 300; n++) {
      if (n % 3 === 0) opened.push({ from: n, client: (await connect(["a"])).client });
      await publishAll("a", [n]);
      if (n % 7 === 0) bus.notifyAll(); // without messages: the bus has to be read
      for (let turns = 0; turns < n % 5; turns++) await new Promise(setImmediate);
    }
    for (const { from, client } of opened)
      await expectMessages(
        client,
        Array.from({ length: 300 - from }, (_, i) => from + i),
      );
  });
});

describe("an event stream", () => {
  it("sends a ping every 20 s", async () => {
    const { client, stream } = await connect(["a"]);
    const now = performance.now();
    const pinged: number[] = [];
    for (let s = 1; s <= 60; s++) {
      const before = client.writes.length;
      stream.tick(now + s * 1000);
      if (client.writes.slice(before).includes("event: ping\ndata: 1\n\n")) pinged.push(s);
    }
    expect(pinged[0]).toBeLessThanOrEqual(20);
    // A tick of the hub may come in between.
    for (const [i, s] of pinged.slice(1).entries()) expect([20, 21]).toContain(s - (pinged[i] ?? 0));
    expect(pinged.length).toBeGreaterThanOrEqual(2);
  });

  it("ends after a random time from 4½ to 5 minutes [LIVE-3]", async () => {
    const lifetimes = [];
    for (let n = 0; n < 20; n++) {
      const { client, stream, onClosed } = await connect(["a"]);
      const now = performance.now();
      let s = 0;
      while (client.state === "open") stream.tick(now + ++s * 1000);
      lifetimes.push(s);
      expect(client.state).toBe("ended");
      expect(onClosed).toHaveBeenCalledTimes(1);
    }
    expect(Math.min(...lifetimes)).toBeGreaterThanOrEqual(270);
    expect(Math.max(...lifetimes)).toBeLessThanOrEqual(300);
    expect(new Set(lifetimes).size).toBeGreaterThan(3);
  });

  it("is removed when its client disconnects, and nothing more is written", async () => {
    const { client, stream, onClosed } = await connect(["a", "b"]);
    await publishAll("a", [1]);
    await expectMessages(client, [1]);
    client.state = "destroyed";
    stream.onClose();
    stream.onClose();
    expect(onClosed).toHaveBeenCalledTimes(1);
    expect(hub.connectionCount).toBe(0);
    await publishAll("b", [2]);
    stream.onDrain();
    stream.tick(performance.now() + 60_000);
  });

  it("sends the gap expired when a feed expires, no later message of it, and the messages of other feeds [LIVE-5]", async () => {
    const names = ["brief", "long"];
    const positions = await bus.position(names);
    const now = performance.now();
    const client = new FakeClient();
    const readers = names.map(
      (name, i) => new FeedReader(name, positions[i] ?? "", now + (name === "brief" ? 60_000 : 120_000)),
    );
    const stream = new EventStream(hub, client, { readers, gaps: [], hasShortIds: false, onClosed: vi.fn() });
    await publishAll("brief", [1]);
    await expectMessages(client, [1]);
    stream.tick(now + 59_000);
    expect(client.gaps).toEqual([]);
    stream.tick(now + 60_000);
    expect(client.gaps).toEqual(["brief expired"]);
    expect(client.lastId).toMatch(/^-,./);
    await publishAll("brief", [2]);
    await publishAll("long", [3]);
    await expectMessages(client, [1, 3]);
    stream.tick(now + 61_000);
    expect(client.gaps).toEqual(["brief expired"]);
    stream.onClose();
  });

  it("sends with a gap in which time its pages reload, by the number of those that have it at the same time", async () => {
    vi.spyOn(hub, "connectionCount", "get").mockReturnValue(10_000);
    const now = performance.now();
    const [a = "", b = ""] = await bus.position(["a", "b"]);
    const client = new FakeClient();
    const readers = [new FeedReader("a", a), new FeedReader("b", b, now + 60_000)];
    const stream = new EventStream(hub, client, { readers, gaps: [], hasShortIds: false, onClosed: vi.fn() });
    stream.tick(now + 60_000);
    bus.loseHistory();
    await expect.poll(() => client.writes.join("")).toContain("event: gap\ndata: a\ndata: reset\ndata: 40000\n\n");
    expect(client.writes.join("")).toContain("event: gap\ndata: b\ndata: expired\n\n");
    stream.onClose();
  });

  it("sends another time to reconnect with each ping once there are many connections", async () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(1);
    const connections = vi.spyOn(hub, "connectionCount", "get").mockReturnValue(1);
    const now = performance.now();
    const { client, stream } = await connect(["a"]);
    stream.tick(now + 21_000);
    connections.mockReturnValue(20_000);
    stream.tick(now + 42_000);
    expect(client.writes).toEqual([
      "retry: 5000\n\n",
      "event: ping\ndata: 1\n\n",
      "retry: 10000\nevent: ping\ndata: 1\n\n",
    ]);
    random.mockRestore();
    connections.mockRestore();
    stream.onClose();
  });

  it("sends nothing of a feed that expires while the bus is read for it, except the gap", async () => {
    const [from = ""] = await bus.position(["a"]);
    await publishAll("a", [1]);
    bus.isHanging = true;
    const client = new FakeClient();
    const now = performance.now();
    const readers = [new FeedReader("a", from, now + 60_000)];
    const stream = new EventStream(hub, client, { readers, gaps: [], hasShortIds: false, onClosed: vi.fn() });
    stream.tick(now + 60_000);
    bus.isHanging = false;
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
    expect([client.gaps, client.messages]).toEqual([["a expired"], []]);
    expect(readers[0]?.isEnded).toBe(true);
    stream.onClose();
  });

  it("ends normally when the process stops", async () => {
    const streams = await Promise.all([connect(["a"]), connect(["b"])]);
    hub.end();
    expect(streams.map(({ client }) => client.state)).toEqual(["ended", "ended"]);
    expect(hub.connectionCount).toBe(0);
  });

  it("can be resumed after any event, without losing or repeating a message", async () => {
    const channels = ["a", "b", "c"];
    const positions = await bus.position(channels);
    const { client } = await connect(channels, positions);
    for (let n = 0; n < 12; n++) await bus.publish(channels[n % 3] ?? "", String(n));
    await expect.poll(() => client.messages.length).toBe(12);
    const ids = [...client.writes.join("").matchAll(/^id: (.*)\n/gm)].map(([, id = ""]) => id);
    for (const [index, id] of ids.entries()) {
      // The client has processed all events up to this one, and resumes from its id.
      const again = await connect(channels, id.split(","));
      const seen = client.messages.slice(0, index + 1);
      await expect.poll(() => new Set([...seen, ...again.client.messages]).size).toBe(12);
      expect(seen.length + again.client.messages.length).toBe(12);
      again.stream.onClose();
    }
  });
});

describe("the subscriptions of a process", () => {
  it("are one for each channel, regardless of the number of streams", async () => {
    await Promise.all([connect(["a", "b"]), connect(["a"]), connect(["a"])]);
    await expect
      .poll(() => [...bus.listenerCounts])
      .toEqual([
        ["a", 1],
        ["b", 1],
      ]);
  });

  it("end 15 s after the last stream of the channel", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    try {
      const { stream } = await connect(["a"]);
      await expect.poll(() => bus.listenerCounts.size).toBe(1);
      stream.onClose();
      vi.advanceTimersByTime(14_000);
      expect(bus.listenerCounts.size).toBe(1);
      vi.advanceTimersByTime(3_000);
      expect(bus.listenerCounts.size).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

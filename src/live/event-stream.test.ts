import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import type { BodySink } from "../http/index.ts";
import { EventStream } from "./event-stream.ts";
import { FeedReader } from "./feed-reader.ts";
import { SubscriptionHub } from "./subscription-hub.ts";

const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
let bus: FaultyBus;
let hub: SubscriptionHub;

beforeEach(() => {
  vi.clearAllMocks();
  bus = createFaultyBus();
  hub = new SubscriptionHub(bus, log);
});
afterEach(async () => {
  hub.close();
  await bus.close();
});

/** A client: records what it was sent. A test controls whether it reads. */
class FakeClient implements BodySink {
  readonly writes: string[] = [];
  /** Whether it reads everything at once. */
  isReading = true;
  state: "open" | "ended" | "destroyed" = "open";

  write(chunk: string | Uint8Array): boolean {
    expect(this.state).toBe("open");
    this.writes.push(typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));
    return this.isReading;
  }
  end() {
    this.state = "ended";
  }
  destroy() {
    this.state = "destroyed";
  }

  /** The messages of all channels so far. */
  get messages(): unknown[] {
    return [...this.writes.join("").matchAll(/^id: [^\n]*\ndata: [^\n]+\ndata: ([^\n]+)\n\n/gm)].map(([, json = ""]) =>
      JSON.parse(json),
    );
  }

  /** The gaps so far, as `channel reason`. */
  get gaps(): string[] {
    return [...this.writes.join("").matchAll(/event: gap\ndata: ([^\n]+)\ndata: (\w+)\n\n/g)].map(
      ([, channel, reason]) => `${channel} ${reason}`,
    );
  }

  get lastId(): string {
    return [...this.writes.join("").matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? "";
  }
}

/** Opens an event stream, by default from the current positions. */
async function connect(channels: readonly string[], positions?: readonly string[]) {
  const from = positions ?? (await bus.position(channels));
  const client = new FakeClient();
  const onClosed = vi.fn();
  const readers = channels.map((channel, i) => new FeedReader(channel, from[i] ?? ""));
  const stream = new EventStream(hub, client, { readers, gaps: [], onClosed });
  return { client, stream, onClosed };
}

const expectMessages = (client: FakeClient, messages: unknown[]) =>
  expect.poll(() => client.messages).toEqual(messages);
const publishAll = async (channel: string, messages: readonly unknown[]) => {
  for (const message of messages) await bus.publish(channel, JSON.stringify(message));
};

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

  it("is sent at most 64 KiB at a time, and messages that the buffer has dropped are read from the bus", async () => {
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
    expect(Math.max(...slow.client.writes.map(({ length }) => length))).toBeLessThan(64 * 1024 + 11_000);
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

  it("ends after a random time from 4½ to 5 minutes", async () => {
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

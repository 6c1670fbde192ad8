import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type SteeredBus, steeredBus } from "#test/steered-bus";
import type { Sink } from "../http/index.ts";
import { Connection } from "./connection.ts";
import { Hub } from "./hub.ts";
import { Reader } from "./reader.ts";

const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
let bus: SteeredBus;
let hub: Hub;

beforeEach(() => {
  vi.clearAllMocks();
  bus = steeredBus();
  hub = new Hub(bus, log);
});
afterEach(async () => {
  hub.close();
  await bus.close();
});

/** The other end of a connection: what it was sent, and whether it takes more. */
class OtherEnd implements Sink {
  readonly writes: string[] = [];
  takes = true;
  state: "open" | "ended" | "destroyed" = "open";

  write(chunk: string | Uint8Array): boolean {
    expect(this.state).toBe("open");
    this.writes.push(typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));
    return this.takes;
  }
  end() {
    this.state = "ended";
  }
  destroy() {
    this.state = "destroyed";
  }

  /** The messages so far, of all channels. */
  get messages(): unknown[] {
    return [...this.writes.join("").matchAll(/^id: [^\n]*\ndata: [^\n]+\ndata: ([^\n]+)\n\n/gm)].map(([, json = ""]) =>
      JSON.parse(json),
    );
  }
  get gaps(): string[] {
    return [...this.writes.join("").matchAll(/event: gap\ndata: ([^\n]+)\ndata: (\w+)\n\n/g)].map(
      ([, channel, reason]) => `${channel} ${reason}`,
    );
  }
  get lastId(): string {
    return [...this.writes.join("").matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? "";
  }
}

async function connect(channels: readonly string[], positions?: readonly string[]) {
  const from = positions ?? (await bus.position(channels));
  const other = new OtherEnd();
  const onClosed = vi.fn();
  const readers = channels.map((channel, i) => new Reader(channel, from[i] ?? ""));
  const connection = new Connection(hub, readers, { sink: other, onClosed });
  connection.start([]);
  return { other, connection, onClosed };
}

const got = (other: OtherEnd, messages: unknown[]) => expect.poll(() => other.messages).toEqual(messages);
const publishAll = async (channel: string, messages: readonly unknown[]) => {
  for (const message of messages) await bus.publish(channel, JSON.stringify(message));
};

describe("what arrives in one turn", () => {
  it("goes out in one write, encoded once for all who stand at one place", async () => {
    const pages = await Promise.all([connect(["a"]), connect(["a"]), connect(["a"])]);
    await publishAll("a", ["first"]);
    for (const { other } of pages) await got(other, ["first"]);
    const before = pages.map(({ other }) => other.writes.length);
    const reads = bus.reads;
    await Promise.all([1, 2, 3, 4].map((n) => bus.publish("a", String(n))));
    for (const { other } of pages) await got(other, ["first", 1, 2, 3, 4]);
    expect(pages.map(({ other }, i) => other.writes.length - (before[i] ?? 0))).toEqual([1, 1, 1]);
    expect(bus.reads).toBe(reads);
  });

  it("asks the bus once for many who have missed the same", async () => {
    const [from = ""] = await bus.position(["a"]);
    await publishAll("a", [1, 2, 3]);
    const pages = await Promise.all(Array.from({ length: 50 }, () => connect(["a"], [from])));
    for (const { other } of pages) await got(other, [1, 2, 3]);
    expect(bus.reads).toBeLessThan(5);
  });
});

/** Has what is read move the end of the history, as other channels do all the time on a bus that is far away. */
function moveEnds(): void {
  const read = bus.read;
  bus.read = async (channel, after, limit) => {
    await bus.publish("elsewhere", "1");
    const batch = await read(channel, after, limit);
    await new Promise(setImmediate);
    return batch;
  };
}

describe("a bus whose end never stands still", () => {
  it("is left alone by those who have nothing to read", async () => {
    moveEnds();
    const pages = [await connect(["quiet"]), await connect(["quiet"]), await connect(["quiet", "silent"])];
    const settled = async () => {
      for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
      return bus.reads;
    };
    const reads = await settled();
    for (let ticks = 0; ticks < 5; ticks++) {
      for (const { connection } of pages) connection.tick(performance.now());
      await settled();
    }
    expect(bus.reads).toBe(reads);
    await publishAll("quiet", [1, 2]);
    for (const { other } of pages) await got(other, [1, 2]);
    expect(bus.reads).toBe(reads);
  });

  it("gives those who come at any moment all from there, in order and once", async () => {
    moveEnds();
    const come: { from: number; other: OtherEnd }[] = [];
    for (let n = 0; n < 300; n++) {
      if (n % 3 === 0) come.push({ from: n, other: (await connect(["a"])).other });
      await publishAll("a", [n]);
      if (n % 7 === 0) bus.wakeAll(); // they cannot tell what of it they know
      for (let turns = 0; turns < n % 5; turns++) await new Promise(setImmediate);
    }
    for (const { from, other } of come)
      await got(
        other,
        Array.from({ length: 300 - from }, (_, i) => from + i),
      );
  });
});

describe("one who reads slowly", () => {
  it("holds up nobody, and gets the rest when it takes more", async () => {
    const slow = await connect(["a"]);
    const quick = await connect(["a"]);
    slow.other.takes = false;
    await publishAll("a", [1]);
    await got(slow.other, [1]);
    const writes = slow.other.writes.length;
    await publishAll("a", [2, 3, 4]);
    await got(quick.other, [1, 2, 3, 4]);
    expect(slow.other.writes.length).toBe(writes);
    slow.other.takes = true;
    slow.connection.drained();
    await got(slow.other, [1, 2, 3, 4]);
  });

  it("is given no more than 64 KiB at a time, and reads the bus for what the process has let go", async () => {
    const slow = await connect(["a"]);
    await publishAll("a", ["first"]);
    await got(slow.other, ["first"]);
    slow.other.takes = false;
    const messages = Array.from({ length: 100 }, (_, n) => `${n}${"x".repeat(10_000)}`);
    await publishAll("a", messages); // about a megabyte: more than a process keeps of a channel
    for (let writes = 0; slow.other.messages.length <= messages.length; ) {
      await expect.poll(() => slow.other.writes.length).toBeGreaterThan(writes);
      writes = slow.other.writes.length;
      slow.connection.drained();
    }
    expect(slow.other.messages).toEqual(["first", ...messages]);
    expect(Math.max(...slow.other.writes.map(({ length }) => length))).toBeLessThan(64 * 1024 + 11_000);
    expect(bus.reads).toBeGreaterThan(0);
  });

  it("is cut when it has taken nothing for 10 s, and not before", async () => {
    const { other, connection } = await connect(["a"]);
    other.takes = false;
    await publishAll("a", [1]);
    await got(other, [1]);
    const now = performance.now();
    connection.tick(now + 9_000);
    expect(other.state).toBe("open");
    connection.tick(now + 10_000);
    expect(other.state).toBe("destroyed");
  });
});

describe("a connection", () => {
  it("says that it lives every 20 s", async () => {
    const { other, connection } = await connect(["a"]);
    const now = performance.now();
    const pinged: number[] = [];
    for (let s = 1; s <= 60; s++) {
      const before = other.writes.length;
      connection.tick(now + s * 1000);
      if (other.writes.slice(before).includes("event: ping\ndata: 1\n\n")) pinged.push(s);
    }
    expect(pinged[0]).toBeLessThanOrEqual(20);
    // The hub's own second may stand between two of these.
    for (const [i, s] of pinged.slice(1).entries()) expect([20, 21]).toContain(s - (pinged[i] ?? 0));
    expect(pinged.length).toBeGreaterThanOrEqual(2);
  });

  it("ends between 4½ and 5 minutes, each at another moment", async () => {
    const lives = [];
    for (let n = 0; n < 20; n++) {
      const { other, connection, onClosed } = await connect(["a"]);
      const now = performance.now();
      let s = 0;
      while (other.state === "open") connection.tick(now + ++s * 1000);
      lives.push(s);
      expect(other.state).toBe("ended");
      expect(onClosed).toHaveBeenCalledTimes(1);
    }
    expect(Math.min(...lives)).toBeGreaterThanOrEqual(270);
    expect(Math.max(...lives)).toBeLessThanOrEqual(300);
    expect(new Set(lives).size).toBeGreaterThan(3);
  });

  it("is let go of when its other end is gone, and written to no more", async () => {
    const { other, connection, onClosed } = await connect(["a", "b"]);
    await publishAll("a", [1]);
    await got(other, [1]);
    other.state = "destroyed";
    connection.closed();
    connection.closed();
    expect(onClosed).toHaveBeenCalledTimes(1);
    expect(hub.size).toBe(0);
    await publishAll("b", [2]);
    connection.drained();
    connection.tick(performance.now() + 60_000);
  });

  it("ends in order when the process is about to stop", async () => {
    const pages = await Promise.all([connect(["a"]), connect(["b"])]);
    hub.end();
    expect(pages.map(({ other }) => other.state)).toEqual(["ended", "ended"]);
    expect(hub.size).toBe(0);
  });

  it("resumes wherever it was cut, with nothing lost and nothing twice", async () => {
    const channels = ["a", "b", "c"];
    const positions = await bus.position(channels);
    const { other } = await connect(channels, positions);
    for (let n = 0; n < 12; n++) await bus.publish(channels[n % 3] ?? "", String(n));
    await expect.poll(() => other.messages.length).toBe(12);
    const whole = other.writes.join("");
    const frames = [...whole.matchAll(/^id: (.*)\n/gm)];
    for (const [at, frame] of frames.entries()) {
      // All that came in whole is seen; the browser goes on from its last id.
      const again = await connect(channels, (frame[1] ?? "").split(","));
      const seen = other.messages.slice(0, at + 1);
      await expect.poll(() => new Set([...seen, ...again.other.messages]).size).toBe(12);
      expect(seen.length + again.other.messages.length).toBe(12);
      again.connection.closed();
    }
  });
});

describe("a bus that loses what it had", () => {
  it("is told to each feed once, and what comes afterwards is given to those who ask anew", async () => {
    const { other } = await connect(["a", "b"]);
    await publishAll("a", [1]);
    await got(other, [1]);
    bus.restart();
    await expect.poll(() => [...other.gaps].sort()).toEqual(["a reset", "b reset"]);
    await publishAll("a", [2]);
    const again = await connect(["a"]);
    await publishAll("a", [3]);
    await got(again.other, [3]);
    expect(other.messages).toEqual([1]);
    expect(other.gaps).toHaveLength(2);
    expect(other.lastId).toBe("-,-");
  });

  it("gives none of the messages of before the gap", async () => {
    const { other } = await connect(["a"]);
    await publishAll("a", [1]);
    await got(other, [1]);
    other.takes = false;
    await publishAll("a", [2]);
    await got(other, [1, 2]);
    await publishAll("a", [3, 4]); // it has yet to take these
    bus.restart();
    await publishAll("a", [5]);
    other.takes = true;
    const pages = await connect(["a"]);
    await publishAll("a", [6]);
    await got(pages.other, [6]);
  });
});

describe("a bus that is away", () => {
  it("keeps connections as they are, and they catch up when it is back", async () => {
    const { other, connection } = await connect(["a"]);
    await publishAll("a", [1]);
    await got(other, [1]);
    bus.isSilent = true;
    await publishAll("a", [2, 3]);
    bus.isAway = true;
    bus.wakeAll();
    await expect.poll(() => log.warn).toHaveBeenCalledTimes(1);
    connection.tick(performance.now());
    expect(other.state).toBe("open");
    bus.isAway = false;
    bus.isSilent = false;
    bus.wakeAll();
    await got(other, [1, 2, 3]);
    expect(other.gaps).toEqual([]);
  });

  it("takes new connections in, and serves them when it is back", async () => {
    const positions = await bus.position(["a"]);
    await publishAll("a", [1]);
    bus.isAway = true;
    const { other } = await connect(["a"], positions);
    await expect.poll(() => log.warn).toHaveBeenCalled();
    expect(other.state).toBe("open");
    bus.isAway = false;
    await expect.poll(() => other.messages, { timeout: 5_000 }).toEqual([1]);
    await publishAll("a", [2]);
    await got(other, [1, 2]);
  });

  it("is waited for when it hangs, and no message comes twice", async () => {
    const { other } = await connect(["a"]);
    await publishAll("a", [1]);
    await got(other, [1]);
    bus.isSilent = true;
    await publishAll("a", [2]);
    bus.isSilent = false;
    bus.isHanging = true;
    bus.wakeAll();
    const publishing = publishAll("a", [3]);
    bus.isHanging = false;
    await publishing;
    await got(other, [1, 2, 3]);
  });
});

describe("what a process watches", () => {
  it("is each channel once, whoever many listen, and none that nobody has asked for", async () => {
    await Promise.all([connect(["a", "b"]), connect(["a"]), connect(["a"])]);
    await expect
      .poll(() => [...bus.watched])
      .toEqual([
        ["a", 1],
        ["b", 1],
      ]);
  });

  it("is let go of a while after the last has left", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    try {
      const { connection } = await connect(["a"]);
      await expect.poll(() => bus.watched.size).toBe(1);
      connection.closed();
      vi.advanceTimersByTime(14_000);
      expect(bus.watched.size).toBe(1);
      vi.advanceTimersByTime(3_000);
      expect(bus.watched.size).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { haveSameClass } from "#test/hidden-class";
import { atMost } from "#test/read-limit";
import type { Bus, Entry, EntryListener, Position } from "../bus/index.ts";
import { type MemoryOptions, memory } from "./bus.ts";
import { MemoryHistory } from "./history.ts";

const HOUR = 3_600_000;
const channel = "a";

function openMemoryBus(options: MemoryOptions = {}) {
  const clock = { ms: 0 };
  return { clock, bus: memory({ now: () => clock.ms, ...options }) };
}

async function endOf(bus: Bus, name = channel): Promise<Position> {
  const [end = ""] = await bus.position([name]);
  return end;
}

/** Reads all messages after a position; returns their texts, or "gap". */
async function readRest(bus: Bus, after: Position, name = channel) {
  const { gap, messages } = await bus.read(name, after, atMost(10_000));
  return gap ? "gap" : messages.map(({ data }) => data);
}

async function publishAll(bus: Bus, texts: readonly string[], name = channel): Promise<void> {
  for (const text of texts) await bus.publish(name, text);
}

describe("the bus in memory", () => {
  it("passes entries to listeners that share one hidden class, so that each takes little memory", async () => {
    const { bus } = openMemoryBus();
    const entries: Entry[] = [];
    await bus.watch(channel, (entry) => void (entry?.data !== undefined && entries.push(entry)));
    await publishAll(
      bus,
      Array.from({ length: 100 }, (_, i) => String(i)),
    );
    const [last, ...others] = entries.slice(-10).reverse();
    expect(others.map((entry) => haveSameClass(entry, last as Entry))).toEqual(Array(9).fill(true));
  });

  it("stores a message for 24.5 hours and not longer", async () => {
    const { bus, clock } = openMemoryBus();
    const from = await endOf(bus);
    await bus.publish(channel, "1");
    clock.ms += 1;
    const second = await bus.publish(channel, "2");
    clock.ms = 24.5 * HOUR;
    expect(await readRest(bus, from)).toEqual(["1", "2"]);
    clock.ms += 1;
    expect(await readRest(bus, from)).toBe("gap");
    clock.ms += 1;
    // Complete: no message was published after the second one.
    expect(await readRest(bus, second)).toEqual([]);
    await bus.publish(channel, "3");
    expect(await readRest(bus, second)).toEqual(["3"]);
    expect(await readRest(bus, from)).toBe("gap");
  });

  it.each([
    [999, 999],
    [1000, 1000],
    [1001, "gap"],
  ])(
    "stores 1,000 messages per channel: after %i messages a read from the start returns %s",
    async (count, expected) => {
      const { bus } = openMemoryBus();
      const from = await endOf(bus);
      const first = await bus.publish(channel, "first");
      await publishAll(
        bus,
        Array.from({ length: count - 1 }, (_, at) => String(at)),
      );
      const read = await readRest(bus, from);
      expect(read === "gap" ? read : read.length).toBe(expected);
      expect(await readRest(bus, first)).toHaveLength(count - 1);
    },
  );

  it.each([
    [15, 15],
    [16, 16],
    [17, "gap"],
  ])(
    "stores 4 MiB per channel: after %i messages of 256 KiB a read from the start returns %s",
    async (count, expected) => {
      const { bus } = openMemoryBus();
      const from = await endOf(bus);
      await publishAll(bus, Array(count).fill("x".repeat(256 * 1024)));
      const read = await readRest(bus, from);
      expect(read === "gap" ? read : read.length).toBe(expected);
    },
  );

  it("counts two bytes for each character of a text that is not ASCII", async () => {
    const { bus } = openMemoryBus({ bytes: 100 });
    const from = await endOf(bus);
    await publishAll(bus, ["x".repeat(100)]);
    expect(await readRest(bus, from)).toHaveLength(1);
    const next = await endOf(bus);
    await publishAll(bus, [`é${"x".repeat(49)}`]);
    expect(await readRest(bus, next)).toHaveLength(1);
    await publishAll(bus, [`é${"x".repeat(50)}`]);
    expect(await readRest(bus, next)).toBe("gap");
  });

  it("removes the oldest messages of all channels when it is full, and reports a gap in each channel", async () => {
    const { bus } = openMemoryBus({ total: 100_000 });
    const start = await endOf(bus);
    await bus.publish("old", "1");
    const afterOld = await endOf(bus);
    for (let at = 0; at < 200; at++) await bus.publish(`channel ${at}`, "x".repeat(1000));
    expect(await readRest(bus, start, "old")).toBe("gap");
    expect(await readRest(bus, start, "channel 0")).toBe("gap");
    expect(await readRest(bus, start, "channel 199")).toBe("gap");
    // For a channel without messages, the history does not reach back to that position any more.
    expect(await readRest(bus, start, "never")).toBe("gap");
    expect(await readRest(bus, await endOf(bus), "never")).toEqual([]);
    expect(await readRest(bus, afterOld, "old")).toBe("gap");
  });

  it("reports no gap in a watched channel when messages of other channels are removed", async () => {
    const { bus } = openMemoryBus({ total: 100_000 });
    const stop = await bus.watch("quiet", () => undefined);
    const from = await endOf(bus);
    for (let at = 0; at < 200; at++) await bus.publish(`channel ${at}`, "x".repeat(1000));
    expect(await readRest(bus, from, "quiet")).toEqual([]);
    await bus.publish("quiet", "1");
    expect(await readRest(bus, from, "quiet")).toEqual(["1"]);
    stop();
    expect(await readRest(bus, from, "other")).toBe("gap");
  });

  it("reports a gap for a position of another memory bus with the same sequence number", async () => {
    const [one, two] = [openMemoryBus().bus, openMemoryBus().bus];
    const position = await one.publish(channel, "1");
    await two.publish(channel, "1");
    expect(await readRest(two, position)).toBe("gap");
    expect(await readRest(two, `${await endOf(two)}.000000001`)).toBe("gap");
    expect(await readRest(two, (await endOf(two)).toUpperCase())).toBe("gap");
  });

  it("passes on each message with the position of the one before it", async () => {
    const { bus } = openMemoryBus();
    const entries: Parameters<EntryListener>[0][] = [];
    await bus.watch(channel, (entry) => void entries.push(entry));
    const [first, second] = await Promise.all(["1", "2"].map((text) => bus.publish(channel, text)));
    expect(entries).toMatchObject([
      { position: first, data: "1" },
      { position: second, data: "2", after: first },
    ]);
  });
});

describe("MemoryHistory", () => {
  const limits = { maxAgeMs: 1000, maxMessagesPerChannel: 3, maxBytesPerChannel: 1000, maxTotalBytes: 20_000 };
  const append = (history: MemoryHistory, name: string, data: string, atMs = 0) =>
    history.append(name, atMs, (seq) => ({ position: String(seq), data }));

  it("needs no memory for channels without stored messages", () => {
    const history = new MemoryHistory(limits);
    for (let at = 0; at < 20_000; at++) {
      append(history, `channel ${at}`, "x");
      if (at % 100 === 0) expect(history.bytes).toBeLessThanOrEqual(limits.maxTotalBytes);
    }
    history.expire(limits.maxAgeMs + 1);
    expect(history.bytes).toBe(0);
    for (let at = 0; at < 100; at++) {
      history.pin(`pinned ${at}`);
      history.unpin(`pinned ${at}`);
    }
    expect(history.bytes).toBe(0);
  });

  it("removes a message that exceeds the total limit by itself", () => {
    const history = new MemoryHistory(limits);
    const before = history.lastSeq;
    append(history, "a", "x".repeat(30_000));
    expect(history.bytes).toBe(0);
    expect(history.readAfter("a", before, atMost(10))).toBeUndefined();
    expect(history.readAfter("a", history.lastSeq, atMost(10))).toEqual({
      messages: [],
      more: false,
      lastSeq: history.lastSeq,
    });
  });

  it("returns all messages after a number or undefined, as a list of all messages would", () => {
    const step = fc.record({
      name: fc.constantFrom("a", "b", "c", "d"),
      ms: fc.nat({ max: 300 }),
      size: fc.nat({ max: 600 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(600, 2000, 20_000), (steps, maxTotalBytes) => {
        const history = new MemoryHistory({ ...limits, maxTotalBytes });
        const all: { seq: number; name: string; data: string }[] = [];
        let nowMs = 0;
        for (const { name, ms, size } of steps) {
          nowMs += ms;
          history.expire(nowMs);
          const data = `${all.length} ${"x".repeat(size)}`;
          append(history, name, data, nowMs);
          all.push({ seq: history.lastSeq, name, data });
          expect(history.bytes).toBeLessThanOrEqual(maxTotalBytes);
          for (const channelName of ["a", "b", "c", "d"]) {
            let wasComplete = false;
            for (let seq = 0; seq <= history.lastSeq; seq++) {
              const result = history.readAfter(channelName, seq, atMost(1000));
              if (result) {
                const expected = all.filter((message) => message.name === channelName && message.seq > seq);
                expect(result.messages.map((message) => message.data)).toEqual(expected.map((message) => message.data));
              }
              // If one number is complete, all later ones are.
              expect(result !== undefined || !wasComplete).toBe(true);
              wasComplete = result !== undefined;
            }
            expect(wasComplete, "a read from the end is always complete").toBe(true);
          }
        }
      }),
      { numRuns: 30 },
    );
  });
});

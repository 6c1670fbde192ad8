import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Bus, Position } from "./bus.ts";
import { type MemoryOptions, memory } from "./memory.ts";
import { MemoryHistory } from "./memory-history.ts";

const HOUR = 3_600_000;
const channel = "a";

function open(options: MemoryOptions = {}) {
  const clock = { ms: 0 };
  return { clock, bus: memory({ now: () => clock.ms, ...options }) };
}

async function endOf(bus: Bus, name = channel): Promise<Position> {
  const [end = ""] = await bus.position([name]);
  return end;
}

/** Reads everything after a position: the messages, or that there is a gap. */
async function rest(bus: Bus, after: Position, name = channel) {
  const { gap, messages } = await bus.read(name, after, 10_000);
  return gap ? "gap" : messages.map(({ data }) => data);
}

async function publishAll(bus: Bus, texts: readonly string[], name = channel): Promise<void> {
  for (const text of texts) await bus.publish(name, text);
}

describe("the bus in memory", () => {
  it("keeps a message 24.5 hours and not a moment longer", async () => {
    const { bus, clock } = open();
    const from = await endOf(bus);
    await bus.publish(channel, "1");
    clock.ms += 1;
    const second = await bus.publish(channel, "2");
    clock.ms = 24.5 * HOUR;
    expect(await rest(bus, from)).toEqual(["1", "2"]);
    clock.ms += 1;
    expect(await rest(bus, from)).toBe("gap");
    clock.ms += 1;
    // What came after the second is all there: nothing.
    expect(await rest(bus, second)).toEqual([]);
    await bus.publish(channel, "3");
    expect(await rest(bus, second)).toEqual(["3"]);
    expect(await rest(bus, from)).toBe("gap");
  });

  it.each([
    [999, 999],
    [1000, 1000],
    [1001, "gap"],
  ])("keeps 1,000 messages of a channel: of %i, %s", async (count, expected) => {
    const { bus } = open();
    const from = await endOf(bus);
    const first = await bus.publish(channel, "first");
    await publishAll(
      bus,
      Array.from({ length: count - 1 }, (_, at) => String(at)),
    );
    const read = await rest(bus, from);
    expect(read === "gap" ? read : read.length).toBe(expected);
    expect(await rest(bus, first)).toHaveLength(count - 1);
  });

  it.each([
    [15, 15],
    [16, 16],
    [17, "gap"],
  ])("keeps 4 MiB of a channel: of %i messages of 256 KiB, %s", async (count, expected) => {
    const { bus } = open();
    const from = await endOf(bus);
    await publishAll(bus, Array(count).fill("x".repeat(256 * 1024)));
    const read = await rest(bus, from);
    expect(read === "gap" ? read : read.length).toBe(expected);
  });

  it("counts two bytes for each character where one is not ASCII", async () => {
    const { bus } = open({ bytes: 100 });
    const from = await endOf(bus);
    await publishAll(bus, ["x".repeat(100)]);
    expect(await rest(bus, from)).toHaveLength(1);
    const next = await endOf(bus);
    await publishAll(bus, [`é${"x".repeat(49)}`]);
    expect(await rest(bus, next)).toHaveLength(1);
    await publishAll(bus, [`é${"x".repeat(50)}`]);
    expect(await rest(bus, next)).toBe("gap");
  });

  it("tells every channel of its own loss when it is full, and lets the oldest of all go first", async () => {
    const { bus } = open({ total: 100_000 });
    const start = await endOf(bus);
    await bus.publish("old", "1");
    const afterOld = await endOf(bus);
    for (let at = 0; at < 200; at++) await bus.publish(`channel ${at}`, "x".repeat(1000));
    expect(await rest(bus, start, "old")).toBe("gap");
    expect(await rest(bus, start, "channel 0")).toBe("gap");
    expect(await rest(bus, start, "channel 199")).toBe("gap");
    // Of what nobody ever published to, it cannot be known any more that far back.
    expect(await rest(bus, start, "never")).toBe("gap");
    expect(await rest(bus, await endOf(bus), "never")).toEqual([]);
    expect(await rest(bus, afterOld, "old")).toBe("gap");
  });

  it("raises no alarm in a channel that is watched, when others are let go", async () => {
    const { bus } = open({ total: 100_000 });
    const stop = await bus.watch("quiet", () => undefined);
    const from = await endOf(bus);
    for (let at = 0; at < 200; at++) await bus.publish(`channel ${at}`, "x".repeat(1000));
    expect(await rest(bus, from, "quiet")).toEqual([]);
    await bus.publish("quiet", "1");
    expect(await rest(bus, from, "quiet")).toEqual(["1"]);
    stop();
    expect(await rest(bus, from, "other")).toBe("gap");
  });

  it("is no position of another one's, though both begin alike", async () => {
    const [one, two] = [open().bus, open().bus];
    const position = await one.publish(channel, "1");
    await two.publish(channel, "1");
    expect(await rest(two, position)).toBe("gap");
    expect(await rest(two, `${await endOf(two)}.000000001`)).toBe("gap");
    expect(await rest(two, (await endOf(two)).toUpperCase())).toBe("gap");
  });

  it("hands on what is published at one go at once", async () => {
    const { bus } = open();
    const woken: (readonly string[])[] = [];
    await bus.watch(channel, (fresh) => void woken.push(fresh?.messages.map(({ data }) => data) ?? []));
    await Promise.all(["1", "2", "3"].map((text) => bus.publish(channel, text)));
    expect(woken).toEqual([["1", "2", "3"]]);
  });
});

describe("the history in memory", () => {
  const bounds = { keepMs: 1000, messages: 3, bytes: 1000, total: 20_000 };
  const add = (history: MemoryHistory, name: string, data: string, atMs = 0) =>
    history.append(name, atMs, (seq) => ({ position: String(seq), data }));

  it("needs no memory for channels of which it holds nothing, however many there were", () => {
    const history = new MemoryHistory(bounds);
    for (let at = 0; at < 20_000; at++) {
      add(history, `channel ${at}`, "x");
      if (at % 100 === 0) expect(history.bytes).toBeLessThanOrEqual(bounds.total);
    }
    history.expire(bounds.keepMs + 1);
    expect(history.bytes).toBe(0);
    for (let at = 0; at < 100; at++) {
      history.pin(`pinned ${at}`);
      history.unpin(`pinned ${at}`);
    }
    expect(history.bytes).toBe(0);
  });

  it("takes a message that is more than everything, and lets it go again", () => {
    const history = new MemoryHistory(bounds);
    const before = history.last;
    add(history, "a", "x".repeat(30_000));
    expect(history.bytes).toBe(0);
    expect(history.readAfter("a", before, 10)).toBeUndefined();
    expect(history.readAfter("a", history.last, 10)).toEqual({ messages: [], more: false, last: history.last });
  });

  it("gives all that came after a place, or nothing: as a list of everything would", () => {
    const step = fc.record({
      name: fc.constantFrom("a", "b", "c", "d"),
      ms: fc.nat({ max: 300 }),
      size: fc.nat({ max: 600 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(600, 2000, 20_000), (steps, total) => {
        const history = new MemoryHistory({ ...bounds, total });
        const all: { seq: number; name: string; data: string }[] = [];
        let nowMs = 0;
        for (const { name, ms, size } of steps) {
          nowMs += ms;
          history.expire(nowMs);
          const data = `${all.length} ${"x".repeat(size)}`;
          add(history, name, data, nowMs);
          all.push({ seq: history.last, name, data });
          expect(history.bytes).toBeLessThanOrEqual(total);
          for (const each of ["a", "b", "c", "d"]) {
            let wasHeld = false;
            for (let seq = 0; seq <= history.last; seq++) {
              const found = history.readAfter(each, seq, 1000);
              if (found) {
                const expected = all.filter((message) => message.name === each && message.seq > seq);
                expect(found.messages.map((message) => message.data)).toEqual(expected.map((message) => message.data));
              }
              // Once a place is held, all later ones are.
              expect(found !== undefined || !wasHeld).toBe(true);
              wasHeld = found !== undefined;
            }
            expect(wasHeld, "the end itself is always held").toBe(true);
          }
        }
      }),
      { numRuns: 30 },
    );
  });
});

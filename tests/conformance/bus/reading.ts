/**
 * A channel is read from any position on, whole and without waiting.
 */
import { describe, expect, it } from "vitest";
import { TestSubscriber } from "./test-subscriber.ts";
import { dataOf, endOf, uniqueChannel, type OpenBuses, publishNumbers, readAll } from "./open-buses.ts";

/** Defines the tests of reading. */
export function readingTests(opened: () => OpenBuses): void {
  describe("is read", () => {
    it("from every position on to the end, whole", async () => {
      const { bus, other } = opened();
      const channel = uniqueChannel();
      const positions = [await endOf(bus, channel)];
      for (let at = 0; at < 12; at++) {
        positions.push(await bus.publish(channel, String(at)), await endOf(other, channel));
      }
      for (const [at, position] of positions.entries()) {
        const rest = dataOf(await readAll(bus, channel, position));
        expect(rest).toEqual(Array.from({ length: 12 }, (_, n) => String(n)).slice(Math.ceil(at / 2)));
      }
    });

    it.each([
      [1, 5, true],
      [4, 5, true],
      [5, 5, false],
      [6, 5, false],
      [1, 1, false],
    ])("at most %i of %i messages at once", async (limit, count, more) => {
      const { bus } = opened();
      const channel = uniqueChannel();
      const from = await endOf(bus, channel);
      const positions = await publishNumbers(bus, channel, count);
      const batch = await bus.read(channel, from, limit);
      expect(dataOf(batch.messages)).toEqual(["0", "1", "2", "3", "4"].slice(0, Math.min(limit, count)));
      expect(batch).toMatchObject({ gap: false, more });
      if (more) expect(batch.end).toBe(positions[limit - 1]);
      expect(await readAll(bus, channel, batch.end)).toHaveLength(Math.max(0, count - limit));
    });

    it("without waiting for what is not there, and its end is good to go on from", async () => {
      const { bus, other } = opened();
      const channel = uniqueChannel();
      let end = await endOf(bus, channel);
      for (let round = 0; round < 3; round++) {
        const batch = await bus.read(channel, end, 10);
        expect(batch).toMatchObject({ messages: [], gap: false, more: false });
        await other.publish(uniqueChannel(), "elsewhere");
        end = batch.end;
      }
      await other.publish(channel, "1");
      expect(dataOf(await readAll(bus, channel, end))).toEqual(["1"]);
    });

    it("complete from a position that was taken before it was published, by whomever", async () => {
      const { bus, other } = opened();
      for (let round = 0; round < 30; round++) {
        const channel = uniqueChannel();
        const before = round % 3;
        await publishNumbers(other, channel, before);
        const from = await endOf(bus, channel);
        const during = bus.publish(channel, "during");
        await other.publish(channel, "after");
        await during;
        const read = dataOf(await readAll(round % 2 ? bus : other, channel, from));
        expect(read.sort()).toEqual(["after", "during"]);
      }
    });

    it("in the same moment in which it is published to, without a hole", async () => {
      const { bus, other } = opened();
      const channel = uniqueChannel();
      const from = await endOf(bus, channel);
      let isDone = false;
      const publishing = (async () => {
        for (let at = 0; at < 200; at++) await other.publish(channel, String(at));
        isDone = true;
      })();
      const got: string[] = [];
      for (let end = from; ; ) {
        const wasDone = isDone;
        const batch = await bus.read(channel, end, 9);
        expect(batch.gap).toBe(false);
        got.push(...dataOf(batch.messages));
        end = batch.end;
        if (wasDone && !batch.more) break;
        // The memory bus never leaves the turn of the event loop in which the publisher runs.
        await new Promise((resolve) => setImmediate(resolve));
      }
      await publishing;
      expect(got).toEqual(Array.from({ length: 200 }, (_, at) => String(at)));
    });

    it("by its own name only, whatever that holds", async () => {
      const { bus, other } = opened();
      const odd = [
        "*",
        ">",
        "a.*",
        "a.>",
        "a.b",
        "a.b.c",
        "a b",
        "é",
        "e\u0301",
        "房間",
        "🚪",
        "%2A",
        "a/b",
        "\\",
        '"',
      ];
      const names = [
        ...odd,
        "$",
        "{a}b",
        "{a}",
        "A",
        "a",
        "KEY:channel",
        "-",
        "_",
        "ends.",
        ".begins",
        "x".repeat(128),
      ];
      const froms = await bus.position(names);
      const followers = await Promise.all(names.map((each) => TestSubscriber.start(other, each)));
      for (const each of names) await bus.publish(each, JSON.stringify(each));
      for (const [at, each] of names.entries()) {
        expect(dataOf(await readAll(other, each, String(froms[at]))), each).toEqual([JSON.stringify(each)]);
        await expect.poll(() => dataOf(followers[at]?.received ?? []), { message: each }).toEqual([JSON.stringify(each)]);
      }
      for (const follower of followers) follower.stop();
    });

    it("with messages of 64 KiB, unharmed", async () => {
      const { bus, other } = opened();
      const channel = uniqueChannel();
      const from = await endOf(bus, channel);
      const texts = ["a".repeat(65_534), "é".repeat(32_767), "\\\"\n\u2028'<\u0000".repeat(5_000), "🚪".repeat(16_000)];
      const written = [...texts.map((text) => JSON.stringify(text)), '{ "a":\n 1 }', '""', "null"];
      const many = Array.from({ length: 40 }, (_, at) => written[at % written.length] ?? "");
      const follower = await TestSubscriber.start(other, channel);
      for (const data of many) await bus.publish(channel, data);
      expect(dataOf(await readAll(other, channel, from))).toEqual(many);
      await expect.poll(() => follower.received.length, { timeout: 5_000 }).toBe(40);
      expect(dataOf(follower.received)).toEqual(many);
      follower.stop();
    });

    it("of 10,000 channels, in the order asked", async () => {
      const { bus, other } = opened();
      const names = Array.from({ length: 10_000 }, uniqueChannel);
      const before = await bus.position(names);
      await Promise.all(names.map((each) => bus.publish(each, `"${each}"`)));
      const after = await other.position(names);
      expect([before.length, after.length]).toEqual([10_000, 10_000]);
      for (let at = 0; at < 10_000; at += 371) {
        const each = String(names[at]);
        expect(dataOf(await readAll(bus, each, String(before[at]))), each).toEqual([`"${each}"`]);
        expect(await readAll(bus, each, String(after[at])), each).toEqual([]);
      }
      expect(await bus.position([])).toEqual([]);
    });
  });
}

/**
 * Reading the messages of a channel after any position.
 */

import { describe, expect, it } from "vitest";
import { atMost } from "#test/read-limit";
import { dataOf, endOf, type OpenBuses, publishNumbers, readAll, uniqueChannel } from "./open-buses.ts";
import { TestSubscriber } from "./test-subscriber.ts";

/** Defines the tests of `read` and `position`. */
export function readingTests(getBuses: () => OpenBuses): void {
  describe("reads", () => {
    it("all messages after every position [LIVE-7]", async () => {
      const { bus, other } = getBuses();
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
    ])("up to the limit of %i when %i messages are stored", async (limit, count, more) => {
      const { bus } = getBuses();
      const channel = uniqueChannel();
      const from = await endOf(bus, channel);
      const positions = await publishNumbers(bus, channel, count);
      const result = await bus.read(channel, from, atMost(limit));
      expect(dataOf(result.messages)).toEqual(["0", "1", "2", "3", "4"].slice(0, Math.min(limit, count)));
      expect(result).toMatchObject({ gap: false, more });
      if (more) expect(result.end).toBe(positions[limit - 1]);
      expect(await readAll(bus, channel, result.end)).toHaveLength(Math.max(0, count - limit));
    });

    it.each([
      ["returns the messages that fit", 2_500, [2, 2, 1]],
      ["returns a message that fits exactly", 3_000, [3, 2]],
      ["returns one message that alone exceeds it", 1, [1, 1, 1, 1, 1]],
      ["returns one message that alone is as large", 1_000, [1, 1, 1, 1, 1]],
    ])("up to a limit of bytes: %s", async (_, bytes, counts) => {
      const { bus } = getBuses();
      const channel = uniqueChannel();
      let end = await endOf(bus, channel);
      // 1,000 bytes of UTF-8, and fewer characters.
      for (let n = 0; n < 5; n++) await bus.publish(channel, JSON.stringify(`${n}${"é".repeat(498)}x`));
      const received: number[] = [];
      for (const [at, count] of counts.entries()) {
        const result = await bus.read(channel, end, atMost(100, bytes));
        expect(result.messages).toHaveLength(count);
        expect(result).toMatchObject({ gap: false, more: at < counts.length - 1 });
        received.push(...dataOf(result.messages).map((data) => Number(data[1])));
        end = result.end;
      }
      expect(received).toEqual([0, 1, 2, 3, 4]);
    });

    it("no messages at the end of a channel, without waiting, and can continue from the returned end", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      let end = await endOf(bus, channel);
      for (let round = 0; round < 3; round++) {
        const result = await bus.read(channel, end, atMost(10));
        expect(result).toMatchObject({ messages: [], gap: false, more: false });
        await other.publish(uniqueChannel(), "elsewhere");
        end = result.end;
      }
      await other.publish(channel, "1");
      expect(dataOf(await readAll(bus, channel, end))).toEqual(["1"]);
    });

    it("all messages after a position that was taken before they were published on different buses", async () => {
      const { bus, other } = getBuses();
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

    it("all messages while another bus publishes to the channel", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      const from = await endOf(bus, channel);
      let isDone = false;
      const publishing = (async () => {
        for (let at = 0; at < 200; at++) await other.publish(channel, String(at));
        isDone = true;
      })();
      const received: string[] = [];
      for (let end = from; ; ) {
        const wasDone = isDone;
        const result = await bus.read(channel, end, atMost(9));
        expect(result.gap).toBe(false);
        received.push(...dataOf(result.messages));
        end = result.end;
        if (wasDone && !result.more) break;
        // The memory bus only uses microtasks: without this, the publisher would not run.
        await new Promise((resolve) => setImmediate(resolve));
      }
      await publishing;
      expect(received).toEqual(Array.from({ length: 200 }, (_, at) => String(at)));
    });

    it("only the messages of the channel with exactly the requested name, also with special characters", async () => {
      const { bus, other } = getBuses();
      const unusual = [
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
        ...unusual,
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
      const starts = await bus.position(names);
      const subscribers = await Promise.all(names.map((each) => TestSubscriber.start(other, each)));
      for (const each of names) await bus.publish(each, JSON.stringify(each));
      for (const [at, each] of names.entries()) {
        expect(dataOf(await readAll(other, each, String(starts[at]))), each).toEqual([JSON.stringify(each)]);
        await expect
          .poll(() => dataOf(subscribers[at]?.received ?? []), { message: each })
          .toEqual([JSON.stringify(each)]);
      }
      for (const subscriber of subscribers) subscriber.stop();
    });

    it("messages of 64 KiB and of any characters unchanged", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      const from = await endOf(bus, channel);
      const texts = ["a".repeat(65_534), "é".repeat(32_767), "\\\"\n\u2028'<\u0000".repeat(5_000), "🚪".repeat(16_000)];
      const published = [...texts.map((text) => JSON.stringify(text)), '{ "a":\n 1 }', '""', "null"];
      const many = Array.from({ length: 40 }, (_, at) => published[at % published.length] ?? "");
      const subscriber = await TestSubscriber.start(other, channel);
      for (const data of many) await bus.publish(channel, data);
      expect(dataOf(await readAll(other, channel, from))).toEqual(many);
      await expect.poll(() => subscriber.received.length).toBe(40);
      expect(dataOf(subscriber.received)).toEqual(many);
      subscriber.stop();
    });

    it("the positions of 10,000 channels in the requested order", async () => {
      const { bus, other } = getBuses();
      const names = Array.from({ length: 10_000 }, uniqueChannel);
      const before = await bus.position(names);
      // In all parts of the list, but few: to publish 10,000 messages would take most of the time.
      const sample = Array.from(names.entries()).filter(([at]) => at % 371 === 0);
      for (const [, each] of sample) await bus.publish(each, `"${each}"`);
      const after = await other.position(names);
      expect([before.length, after.length]).toEqual([10_000, 10_000]);
      for (const [at, each] of sample) {
        expect(dataOf(await readAll(bus, each, String(before[at]))), each).toEqual([`"${each}"`]);
        expect(await readAll(bus, each, String(after[at])), each).toEqual([]);
      }
      expect(await bus.position([])).toEqual([]);
    });
  });
}

/**
 * Reading a channel from its oldest stored message.
 */
import { describe, expect, it } from "vitest";
import { atMost } from "#test/read-limit";
import type { Bus, Message, ReadLimit, ReadResult } from "../../../src/backends/index.ts";
import { dataOf, endOf, type OpenBuses, publishNumbers, readAll, uniqueChannel, whenResponding } from "./open-buses.ts";

/** Reads the oldest messages. Fails if the bus has no such method. */
function readOldest(bus: Bus, channel: string, limit: ReadLimit): Promise<ReadResult> {
  return whenResponding(async () => {
    if (!bus.readOldest) throw new Error("The bus has no method readOldest.");
    return bus.readOldest(channel, limit);
  });
}

/** Reads all messages of a channel from its start. */
async function readFromStart(bus: Bus, channel: string, limit: number): Promise<Message[]> {
  const { messages, gap, end, more } = await readOldest(bus, channel, atMost(limit));
  expect(gap).toBe(false);
  return more ? [...messages, ...(await readAll(bus, channel, end, limit))] : [...messages];
}

/** Defines the tests of `readOldest`. */
export function oldestTests(getBuses: () => OpenBuses): void {
  describe("reads from the oldest stored message", () => {
    it("all messages that every bus has published, within the limit of each read", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      await publishNumbers(bus, channel, 5);
      await other.publish(uniqueChannel(), '"elsewhere"');
      await other.publish(channel, "5");
      for (const limit of [1, 4, 6, 100]) {
        const messages = await readFromStart(bus, channel, limit);
        expect(dataOf(messages)).toEqual(["0", "1", "2", "3", "4", "5"]);
      }
      expect(dataOf((await readOldest(other, channel, atMost(100, 2))).messages)).toEqual(["0", "1"]);
    });

    it("nothing of a channel without messages, and continues from the returned end", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      const { end, ...result } = await readOldest(bus, channel, atMost(10));
      expect(result).toEqual({ messages: [], gap: false, more: false });
      await other.publish(uniqueChannel(), '"elsewhere"');
      await other.publish(channel, "1");
      expect(dataOf(await readAll(bus, channel, end))).toEqual(["1"]);
    });

    it("the last messages of a channel whose first ones were removed, without a gap", async () => {
      const small = getBuses().openSmall();
      const channel = uniqueChannel();
      const from = await endOf(small, channel);
      const texts = Array.from({ length: 300 }, (_, at) => JSON.stringify(`${at} ${"x".repeat(1000)}`));
      await Promise.all(texts.map((text) => small.publish(channel, text)));
      expect((await small.read(channel, from, atMost(1000))).gap).toBe(true);
      const numbers = dataOf(await readFromStart(small, channel, 1000)).map((data) =>
        Number.parseInt(data.slice(1), 10),
      );
      const [first = 300] = numbers;
      expect(first).toBeGreaterThan(0);
      expect(first).toBeLessThan(300);
      expect(numbers).toEqual(Array.from({ length: 300 - first }, (_, at) => first + at));
    });

    it("without omission between its messages while the bus removes the oldest ones", async () => {
      const small = getBuses().openSmall();
      const channel = uniqueChannel();
      let published = 0;
      let isDone = false;
      const text = (number: number) => JSON.stringify(`${number} ${"x".repeat(1000)}`);
      const publishing = (async () => {
        while (published < 400) await small.publish(channel, text(published++));
        isDone = true;
      })();
      while (!isDone) {
        const { messages, gap } = await readOldest(small, channel, atMost(20));
        expect(gap).toBe(false);
        const numbers = dataOf(messages).map((data) => Number.parseInt(data.slice(1), 10));
        const [first = 0] = numbers;
        expect(numbers).toEqual(numbers.map((_, at) => first + at));
        await new Promise((resolve) => setImmediate(resolve)); // the bus in memory uses microtasks only
      }
      await publishing;
      expect(dataOf((await readOldest(small, channel, atMost(1))).messages)).toHaveLength(1);
    });
  });
}

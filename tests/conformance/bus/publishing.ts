/**
 * The order of messages and of their positions.
 */
import { describe, expect, it } from "vitest";
import { POSITION_PATTERN } from "../../../src/backends/index.ts";
import { dataOf, endOf, type OpenBuses, publishNumbers, readAll, uniqueChannel } from "./open-buses.ts";

/** Defines the tests of `publish`. */
export function publishingTests(getBuses: () => OpenBuses): void {
  describe("keeps the order", () => {
    it("of the messages that one caller publishes, whether or not it awaits each", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      const from = await endOf(bus, channel);
      const published = await publishNumbers(bus, channel, 300);
      for (let at = 300; at < 310; at++) published.push(await bus.publish(channel, String(at)));
      const messages = await readAll(other, channel, from, 7);
      expect(dataOf(messages)).toEqual(Array.from({ length: 310 }, (_, at) => String(at)));
      expect(messages.map(({ position }) => position)).toEqual(published);
    });

    it("of concurrent publishers: the same for all readers, with the messages of each publisher in order", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      const from = await endOf(bus, channel);
      const buses = [bus, other, getBuses().open(), getBuses().open()];
      const publishers = buses.map(async (each, publisher) => {
        for (let at = 0; at < 60; at += 3) {
          await Promise.all([0, 1, 2].map((offset) => each.publish(channel, JSON.stringify([publisher, at + offset]))));
        }
      });
      await Promise.all(publishers);
      const messages = await readAll(bus, channel, from);
      expect(messages).toHaveLength(240);
      expect(await readAll(other, channel, from, 17)).toEqual(messages);
      const pairs = messages.map(({ data }) => JSON.parse(data) as [number, number]); // the format published above
      for (const publisher of buses.keys()) {
        const numbers = pairs.filter(([sender]) => sender === publisher).map(([, number]) => number);
        expect(numbers).toEqual(Array.from({ length: 60 }, (_, at) => at));
      }
    });

    it("in the positions, which have one length and sort like the messages", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      const positions = [await endOf(bus, channel), ...(await publishNumbers(bus, channel, 120))];
      positions.push(await bus.publish(channel, "last"));
      for (const position of positions) expect(position).toMatch(POSITION_PATTERN);
      expect(new Set(positions.map(({ length }) => length)).size).toBe(1);
      expect([...positions].sort()).toEqual(positions);
      expect(new Set(positions).size).toBe(positions.length);
      expect((await endOf(other, channel)) >= String(positions.at(-1))).toBe(true);
    });
  });
}

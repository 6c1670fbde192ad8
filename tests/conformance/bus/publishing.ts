/**
 * Messages have an order, and so have their positions.
 */
import { describe, expect, it } from "vitest";
import { POSITION_PATTERN } from "../../../src/live/bus/index.ts";
import { dataOf, endOf, uniqueChannel, type OpenBuses, publishNumbers, readAll } from "./open-buses.ts";

/** Defines the tests of what is published. */
export function publishingTests(opened: () => OpenBuses): void {
  describe("keeps an order", () => {
    it("of what one caller publishes, awaited or not", async () => {
      const { bus, other } = opened();
      const channel = uniqueChannel();
      const from = await endOf(bus, channel);
      const published = await publishNumbers(bus, channel, 300);
      for (let at = 300; at < 310; at++) published.push(await bus.publish(channel, String(at)));
      const messages = await readAll(other, channel, from, 7);
      expect(dataOf(messages)).toEqual(Array.from({ length: 310 }, (_, at) => String(at)));
      expect(messages.map(({ position }) => position)).toEqual(published);
    });

    it("of what many publish at once, the same for all who read, and each one's own in it", async () => {
      const { bus, other } = opened();
      const channel = uniqueChannel();
      const from = await endOf(bus, channel);
      const buses = [bus, other, opened().another(), opened().another()];
      const publishers = buses.map(async (each, publisher) => {
        for (let at = 0; at < 60; at += 3) {
          await Promise.all([0, 1, 2].map((plus) => each.publish(channel, JSON.stringify([publisher, at + plus]))));
        }
      });
      await Promise.all(publishers);
      const messages = await readAll(bus, channel, from);
      expect(messages).toHaveLength(240);
      expect(await readAll(other, channel, from, 17)).toEqual(messages);
      const pairs = messages.map(({ data }) => JSON.parse(data) as [number, number]); // as they were written above
      for (const publisher of buses.keys()) {
        const own = pairs.filter(([by]) => by === publisher).map(([, at]) => at);
        expect(own).toEqual(Array.from({ length: 60 }, (_, at) => at));
      }
    });

    it("in positions of one length, which compare as the messages follow", async () => {
      const { bus, other } = opened();
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

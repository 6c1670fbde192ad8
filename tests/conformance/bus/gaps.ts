/**
 * A read after a position whose messages are not stored reports a gap, and can continue after it.
 */

import { describe, expect, it } from "vitest";
import { atMost } from "#test/read-limit";
import { dataOf, endOf, type OpenBuses, publishNumbers, readAll, uniqueChannel } from "./open-buses.ts";

/** Defines the tests of gaps. */
export function gapTests(getBuses: () => OpenBuses): void {
  describe("reports a gap", () => {
    const foreignPositions = [
      "0",
      "-",
      "a.b",
      "zzzzzzzzzzzzz.000000001",
      "1-1",
      "z".repeat(40),
      "0000000000000.000000000-000000000",
    ];
    it.each(foreignPositions)("after the position %j, which is not from this bus", async (position) => {
      const { bus } = getBuses();
      const channel = uniqueChannel();
      for (const count of [0, 3]) {
        await publishNumbers(bus, channel, count);
        const result = await bus.read(channel, position, atMost(10));
        expect(result).toMatchObject({ messages: [], gap: true, more: false });
        await bus.publish(channel, "next");
        expect(dataOf(await readAll(bus, channel, result.end))).toEqual(["next"]);
      }
    });

    it("after a position that is ahead of the end", async () => {
      const { bus } = getBuses();
      const channel = uniqueChannel();
      await publishNumbers(bus, channel, 3);
      const end = await endOf(bus, channel);
      const result = await bus.read(channel, end.replace(/.{7}$/, "zzzzzzz"), atMost(10));
      expect(result).toMatchObject({ messages: [], gap: true, more: false });
      expect(await readAll(bus, channel, result.end)).toEqual([]);
    });

    it("after a position whose messages are no longer stored, and returns all messages after any later one", async () => {
      const small = getBuses().openSmall();
      const channel = uniqueChannel();
      const positions = [await endOf(small, channel)];
      for (let at = 0; at < 200; at++) positions.push(await small.publish(channel, `"${at}${"x".repeat(1000)}"`));
      const results = [];
      for (const position of positions) results.push(await small.read(channel, position, atMost(1000)));
      const isGap = results.map(({ gap }) => gap);
      expect([isGap[0], isGap.at(-1)]).toEqual([true, false]);
      expect(isGap.lastIndexOf(true)).toBeLessThan(isGap.indexOf(false));
      for (const [at, { gap, messages }] of results.entries()) {
        expect(messages.map(({ position }) => position)).toEqual(gap ? [] : positions.slice(at + 1));
      }
    });

    it("in a channel whose messages were removed, and returns no message of another channel", async () => {
      const small = getBuses().openSmall();
      const [quiet, busy, silent] = [uniqueChannel(), uniqueChannel(), uniqueChannel()];
      const from = await endOf(small, quiet);
      const silentFrom = await endOf(small, silent);
      await small.publish(quiet, "1");
      for (let at = 0; at < 400; at++) await small.publish(busy, `"${"x".repeat(1000)}"`);
      const read = await small.read(quiet, from, atMost(10));
      // A bus whose limits are per channel still stores the message of this one.
      if (!read.gap) expect(dataOf(read.messages)).toEqual(["1"]);
      const empty = await small.read(silent, silentFrom, atMost(10));
      expect(empty.messages).toEqual([]);
      expect(
        (await small.read(busy, from, atMost(10))).gap || (await small.read(busy, silentFrom, atMost(10))).gap,
      ).toBe(true);
    });
  });
}

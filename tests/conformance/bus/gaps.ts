/**
 * Whoever asks for what is not held is told of a gap, and goes on after it.
 */
import { describe, expect, it } from "vitest";
import { dataOf, endOf, uniqueChannel, type OpenBuses, publishNumbers, readAll } from "./open-buses.ts";

/** Defines the tests of gaps. */
export function gapTests(opened: () => OpenBuses): void {
  describe("tells of a gap", () => {
    const foreign = [
      "0",
      "-",
      "a.b",
      "zzzzzzzzzzzzz.000000001",
      "1-1",
      "z".repeat(40),
      "0000000000000.000000000-000000000",
    ];
    it.each(foreign)("after the position %j, which is none of its own", async (position) => {
      const { bus } = opened();
      const channel = uniqueChannel();
      for (const count of [0, 3]) {
        await publishNumbers(bus, channel, count);
        const batch = await bus.read(channel, position, 10);
        expect(batch).toMatchObject({ messages: [], gap: true, more: false });
        await bus.publish(channel, "next");
        expect(dataOf(await readAll(bus, channel, batch.end))).toEqual(["next"]);
      }
    });

    it("after a position that is ahead of the end", async () => {
      const { bus } = opened();
      const channel = uniqueChannel();
      await publishNumbers(bus, channel, 3);
      const end = await endOf(bus, channel);
      const batch = await bus.read(channel, end.replace(/.{7}$/, "zzzzzzz"), 10);
      expect(batch).toMatchObject({ messages: [], gap: true, more: false });
      expect(await readAll(bus, channel, batch.end)).toEqual([]);
    });

    it("when what was asked for is no longer held, and gives all or nothing from everywhere", async () => {
      const small = opened().small();
      const channel = uniqueChannel();
      const positions = [await endOf(small, channel)];
      for (let at = 0; at < 200; at++) positions.push(await small.publish(channel, `"${at}${"x".repeat(1000)}"`));
      const answers = [];
      for (const position of positions) answers.push(await small.read(channel, position, 1000));
      const isGap = answers.map(({ gap }) => gap);
      expect([isGap[0], isGap.at(-1)]).toEqual([true, false]);
      expect(isGap.lastIndexOf(true)).toBeLessThan(isGap.indexOf(false));
      for (const [at, { gap, messages }] of answers.entries()) {
        expect(messages.map(({ position }) => position)).toEqual(gap ? [] : positions.slice(at + 1));
      }
    });

    it("in a channel of which nothing is held any more, and none that is not asked for", async () => {
      const small = opened().small();
      const [quiet, loud, silent] = [uniqueChannel(), uniqueChannel(), uniqueChannel()];
      const from = await endOf(small, quiet);
      const silentFrom = await endOf(small, silent);
      await small.publish(quiet, "1");
      for (let at = 0; at < 400; at++) await small.publish(loud, `"${"x".repeat(1000)}"`);
      const read = await small.read(quiet, from, 10);
      // Each channel on its own may hold as much as it likes: then the one message is there.
      if (!read.gap) expect(dataOf(read.messages)).toEqual(["1"]);
      const nothing = await small.read(silent, silentFrom, 10);
      expect(nothing.messages).toEqual([]);
      expect((await small.read(loud, from, 10)).gap || (await small.read(loud, silentFrom, 10)).gap).toBe(true);
    });
  });
}

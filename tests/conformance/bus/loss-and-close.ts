/**
 * What a bus does when all it held is lost, and when it is closed.
 */
import { describe, expect, it } from "vitest";
import { dataOf, endOf, uniqueChannel, type OpenBuses, publishNumbers, readAll } from "./open-buses.ts";

/** Defines the tests after which nothing is left: they come last. */
export function lossAndCloseTests(opened: () => OpenBuses): void {
  describe("when it has lost all", () => {
    it("tells everybody of a gap, once, and goes on", async () => {
      const { bus } = opened();
      const [full, empty, later] = [uniqueChannel(), uniqueChannel(), uniqueChannel()];
      const [emptyFrom] = await bus.position([empty]);
      const positions = [await endOf(bus, full), ...(await publishNumbers(bus, full, 3)), await endOf(bus, full)];
      const after = await opened().lose();
      for (const position of positions) {
        const batch = await after.read(full, position, 10);
        expect(batch).toMatchObject({ messages: [], gap: true, more: false });
        expect(batch.end > position, "the new history compares as later").toBe(true);
        expect(await after.read(full, batch.end, 10)).toMatchObject({ messages: [], gap: false, more: false });
      }
      expect((await after.read(empty, String(emptyFrom), 10)).gap).toBe(true);
      await after.publish(full, "new");
      for (const position of positions) expect((await after.read(full, position, 10)).gap).toBe(true);
      const from = await endOf(after, later);
      await after.publish(later, "1");
      expect(dataOf(await readAll(after, later, from))).toEqual(["1"]);
    });
  });

  describe("when it is closed", () => {
    it("wakes nobody and takes nothing more", async () => {
      const closing = opened().another();
      const rest = opened().another();
      const channel = uniqueChannel();
      let woken = 0;
      const stop = await closing.watch(channel, () => void woken++);
      const pending = closing.publish(channel, "pending").then(
        () => "taken",
        (error: Error) => error.message,
      );
      await closing.close();
      await closing.close(); // twice is once
      stop();
      expect(await pending).toMatch(/taken|closed/);
      const before = woken;
      if (rest !== closing) await rest.publish(channel, "later");
      for (const asked of [
        closing.publish(channel, "1"),
        closing.position([channel]),
        closing.read(channel, "0", 1),
        closing.watch(channel, () => undefined),
      ]) {
        await expect(asked).rejects.toThrow("closed");
      }
      expect(woken).toBe(before);
    });
  });
}

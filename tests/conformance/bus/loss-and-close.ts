/**
 * A bus whose stored messages are lost, and a bus that is closed.
 */

import { describe, expect, it } from "vitest";
import { atMost } from "#test/read-limit";
import { dataOf, endOf, type OpenBuses, publishNumbers, readAll, uniqueChannel } from "./open-buses.ts";

/** Defines the tests that delete all stored messages. They have to run last. */
export function lossAndCloseTests(getBuses: () => OpenBuses): void {
  describe("when all stored messages are lost", () => {
    it("reports one gap to every reader, and works afterwards", async () => {
      const { bus } = getBuses();
      const [full, empty, later] = [uniqueChannel(), uniqueChannel(), uniqueChannel()];
      const [emptyFrom] = await bus.position([empty]);
      const positions = [await endOf(bus, full), ...(await publishNumbers(bus, full, 3)), await endOf(bus, full)];
      const after = await getBuses().lose();
      for (const position of positions) {
        const result = await after.read(full, position, atMost(10));
        expect(result).toMatchObject({ messages: [], gap: true, more: false });
        expect(result.end > position, "the positions of the new history are greater").toBe(true);
        expect(await after.read(full, result.end, atMost(10))).toMatchObject({ messages: [], gap: false, more: false });
      }
      expect((await after.read(empty, String(emptyFrom), atMost(10))).gap).toBe(true);
      await after.publish(full, "new");
      for (const position of positions) expect((await after.read(full, position, atMost(10))).gap).toBe(true);
      const from = await endOf(after, later);
      await after.publish(later, "1");
      expect(dataOf(await readAll(after, later, from))).toEqual(["1"]);
    });
  });

  describe("when it is closed", () => {
    it("notifies no listener and rejects every operation", async () => {
      const closing = getBuses().open();
      const remaining = getBuses().open();
      const channel = uniqueChannel();
      let notifications = 0;
      const stop = await closing.watch(channel, () => void notifications++);
      const pending = closing.publish(channel, "pending").then(
        () => "stored",
        (error: Error) => error.message,
      );
      await closing.close();
      await closing.close(); // the second call has no effect
      stop();
      expect(await pending).toMatch(/stored|closed/);
      const before = notifications;
      if (remaining !== closing) await remaining.publish(channel, "later");
      for (const operation of [
        closing.publish(channel, "1"),
        closing.position([channel]),
        closing.read(channel, "0", atMost(1)),
        closing.watch(channel, () => undefined),
      ]) {
        await expect(operation).rejects.toThrow("closed");
      }
      expect(notifications).toBe(before);
    });
  });
}

/**
 * The listeners of a channel are notified of its messages.
 */
import { describe, expect, it } from "vitest";
import type { Entry } from "../../../src/backends/index.ts";
import { dataOf, type OpenBuses, publishNumbers, readAll, uniqueChannel } from "./open-buses.ts";
import { TestSubscriber } from "./test-subscriber.ts";

/** Defines the tests of `watch`. */
export function notificationTests(getBuses: () => OpenBuses): void {
  describe("notifies", () => {
    it("listeners on every bus of all messages, whichever bus published them", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      const subscribers = [await TestSubscriber.start(bus, channel), await TestSubscriber.start(other, channel)];
      for (let at = 0; at < 100; at += 2)
        await Promise.all([bus.publish(channel, `a${at}`), other.publish(channel, `b${at}`)]);
      for (const subscriber of subscribers) await expect.poll(() => subscriber.received.length).toBe(100);
      const [one, two] = subscribers;
      expect(one?.received).toEqual(two?.received);
      expect(subscribers.map(({ gaps }) => gaps)).toEqual([0, 0]);
      for (const subscriber of subscribers) subscriber.stop();
    });

    it("listeners of each message once and in order, with a position after which it is the first one, if any", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      const before = (await publishNumbers(other, channel, 3)).at(-1) ?? "";
      const entries: (Entry | undefined)[] = [];
      const stop = await bus.watch(channel, (entry) => {
        if (entry && entry.data === undefined) return; // progress without a message
        // A message that was published before `watch` has resolved may still arrive.
        if (!entry || entry.position > before) entries.push(entry);
      });
      entries.splice(0); // and may have been missed
      for (let at = 0; at < 20; at++) await other.publish(channel, String(at));
      await expect.poll(() => entries.length).toBe(20);
      for (const [at, entry] of entries.entries()) {
        const after = entry?.after ?? entries[at - 1]?.position;
        if (after === undefined) continue; // the first message since `watch` has resolved
        const [next] = await readAll(bus, channel, after);
        expect(next).toEqual({ position: entry?.position, data: entry?.data });
      }
      expect(entries.map((entry) => entry?.data)).toEqual(Array.from({ length: 20 }, (_, at) => String(at)));
      stop();
    });

    it("active listeners but not stopped ones, also if one function is registered twice", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      const calls = { a: 0, b: 0, c: 0 };
      const listenerA = () => void calls.a++;
      const stops = [await bus.watch(channel, listenerA), await bus.watch(channel, listenerA)];
      const stopB = await bus.watch(channel, () => void calls.b++);
      const stopC = await bus.watch(uniqueChannel(), () => void calls.c++);
      stops[0]?.();
      stops[0]?.(); // the second call has no effect
      await other.publish(channel, "1");
      await expect.poll(() => [calls.a, calls.b]).toEqual([1, 1]);
      stops[1]?.();
      await other.publish(channel, "2");
      await expect.poll(() => calls.b).toBe(2);
      expect(calls).toEqual({ a: 1, b: 2, c: 0 });
      stopB();
      stopC();
      const again = await TestSubscriber.start(bus, channel);
      await other.publish(channel, "3");
      await expect.poll(() => dataOf(again.received)).toEqual(["3"]);
      expect(calls).toEqual({ a: 1, b: 2, c: 0 });
      again.stop();
    });

    it("a listener of every message while other listeners of the channel are added and removed", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      const subscriber = await TestSubscriber.start(bus, channel);
      for (let at = 0; at < 50; at++) {
        const [, stop] = await Promise.all([other.publish(channel, String(at)), bus.watch(channel, () => undefined)]);
        stop();
      }
      await expect.poll(() => subscriber.received.length).toBe(50);
      subscriber.stop();
      for (let at = 0; at < 20; at++) {
        const shortLived = await TestSubscriber.start(bus, channel);
        await other.publish(channel, "x");
        await expect.poll(() => shortLived.received.length, { interval: 5 }).toBe(1);
        shortLived.stop();
      }
    });
  });
}

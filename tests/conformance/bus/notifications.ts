/**
 * Whoever watches a channel is woken, and knows what for.
 */
import { describe, expect, it, vi } from "vitest";
import type { Notification } from "../../../src/live/bus/index.ts";
import { TestSubscriber } from "./test-subscriber.ts";
import { dataOf, uniqueChannel, type OpenBuses, publishNumbers, readAll } from "./open-buses.ts";

/** Defines the tests of wake-ups. */
export function notificationTests(opened: () => OpenBuses): void {
  describe("wakes", () => {
    it("for every message, whoever published it, and the messages come along or can be read", async () => {
      const { bus, other } = opened();
      const channel = uniqueChannel();
      const followers = [await TestSubscriber.start(bus, channel), await TestSubscriber.start(other, channel)];
      for (let at = 0; at < 100; at += 2)
        await Promise.all([bus.publish(channel, `a${at}`), other.publish(channel, `b${at}`)]);
      for (const follower of followers) await expect.poll(() => follower.received.length, { timeout: 5_000 }).toBe(100);
      const [one, two] = followers;
      expect(one?.received).toEqual(two?.received);
      expect(followers.map(({ gaps }) => gaps)).toEqual([0, 0]);
      for (const follower of followers) follower.stop();
    });

    it("with messages that follow on the position they are said to follow on", async () => {
      const { bus, other } = opened();
      const channel = uniqueChannel();
      const brought: Notification[] = [];
      const woken = vi.fn((fresh?: Notification) => fresh && brought.push(fresh));
      await publishNumbers(other, channel, 3);
      const stop = await bus.watch(channel, woken);
      woken.mockClear();
      // Of the first, not every bus knows what was before: it may wake without it.
      await other.publish(channel, "first");
      await expect.poll(() => woken.mock.calls.length).toBeGreaterThan(0);
      for (let at = 0; at < 20; at++) await other.publish(channel, String(at));
      const data = () => brought.flatMap(({ messages }) => messages.map(({ data }) => data)).slice(-20);
      await expect.poll(data, { timeout: 5_000 }).toEqual(Array.from({ length: 20 }, (_, at) => String(at)));
      for (const { after, messages } of brought) {
        const last = messages.at(-1)?.position ?? "";
        const read = (await readAll(bus, channel, after)).filter(({ position }) => position <= last);
        expect(read).toEqual(messages);
      }
      stop();
    });

    it("those who watch and not those who have stopped, each by itself", async () => {
      const { bus, other } = opened();
      const channel = uniqueChannel();
      const woken = { a: 0, b: 0, c: 0 };
      const wakeA = () => void woken.a++;
      const stops = [await bus.watch(channel, wakeA), await bus.watch(channel, wakeA)];
      const stopB = await bus.watch(channel, () => void woken.b++);
      const stopC = await bus.watch(uniqueChannel(), () => void woken.c++);
      stops[0]?.();
      stops[0]?.(); // twice is once
      await other.publish(channel, "1");
      await expect.poll(() => [woken.a, woken.b]).toEqual([1, 1]);
      stops[1]?.();
      await other.publish(channel, "2");
      await expect.poll(() => woken.b).toBe(2);
      expect(woken).toEqual({ a: 1, b: 2, c: 0 });
      stopB();
      stopC();
      const again = await TestSubscriber.start(bus, channel);
      await other.publish(channel, "3");
      await expect.poll(() => dataOf(again.received)).toEqual(["3"]);
      expect(woken).toEqual({ a: 1, b: 2, c: 0 });
      again.stop();
    });

    it("through watches of one channel that come and go, without losing one", async () => {
      const { bus, other } = opened();
      const channel = uniqueChannel();
      const follower = await TestSubscriber.start(bus, channel);
      for (let at = 0; at < 50; at++) {
        const [, stop] = await Promise.all([other.publish(channel, String(at)), bus.watch(channel, () => undefined)]);
        stop();
      }
      await expect.poll(() => follower.received.length, { timeout: 5_000 }).toBe(50);
      follower.stop();
      for (let at = 0; at < 20; at++) {
        const brief = await TestSubscriber.start(bus, channel);
        await other.publish(channel, "x");
        await expect.poll(() => brief.received.length, { interval: 5 }).toBe(1);
        brief.stop();
      }
    });
  });
}

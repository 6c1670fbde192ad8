import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { atMost } from "#test/read-limit";
import type { Bus, Entry, Progress } from "../backends/index.ts";
import { ChannelSubscription } from "./channel-subscription.ts";

const positionAt = (sequence: number) => `e.${String(sequence).padStart(3, "0")}`;
const settle = async () => {
  for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate);
};

/** A bus with one channel. A test decides which of its messages are passed to the listener, and in which form. */
async function openSubscription(startAt = 0) {
  let end = startAt;
  let reads = 0;
  let isUnreachable = false;
  let listener: (entry?: Entry | Progress) => void = () => undefined;
  const bus = {
    async watch(_channel: string, added: typeof listener) {
      listener = added;
      return () => undefined;
    },
    position: async () => [positionAt(end)],
    async read(_channel: string, after: string) {
      reads++;
      if (isUnreachable) throw new Error("unreachable");
      const from = Number(after.slice(2));
      const messages = Array.from({ length: end - from }, (_, n) => messageAt(from + n + 1));
      await new Promise(setImmediate);
      return { messages, gap: false, end: positionAt(from + messages.length), more: false };
    },
  };
  const messageAt = (sequence: number) => ({ position: positionAt(sequence), data: String(sequence) });
  const onBusFailure = vi.fn();
  const subscription = new ChannelSubscription("a", { bus: bus as unknown as Bus, onBusFailure }); // what it uses
  await subscription.start();
  await settle();
  return {
    subscription,
    onBusFailure,
    /** Stores the next message. */
    publish: () => ++end,
    setUnreachable: (value: boolean) => {
      isUnreachable = value;
    },
    /** Passes a message to the listener, with a position before it if there is one. */
    deliver: (sequence: number, after?: number) =>
      listener({ ...messageAt(sequence), ...(after === undefined ? {} : { after: positionAt(after) }) }),
    deliverMissed: () => listener(),
    /** Tells the listener that it was passed everything up to a position. */
    deliverProgress: (sequence: number) => listener({ position: positionAt(sequence) }),
    readCount: () => reads,
    texts: () => subscription.buffer?.messagesFrom(0, atMost(1_000)).map(({ data }) => data),
  };
}

describe("a subscription to a channel", () => {
  it.each([
    [
      "entries that follow each other",
      [
        [1, 0],
        [2, 1],
        [3, 2],
      ],
    ],
    ["entries without a position before them", [[1], [2], [3]]],
  ])("accepts %s without a read of the bus", async (_, entries) => {
    const { publish, deliver, readCount, texts } = await openSubscription();
    for (const [sequence = 0, after] of entries) {
      publish();
      deliver(sequence, after);
    }
    await settle();
    expect([texts(), readCount()]).toEqual([["1", "2", "3"], 0]);
  });

  it.each([
    [
      "messages are missing before an entry",
      [
        [1, 0],
        [3, 2],
      ],
    ],
    [
      "an entry is not later than the end",
      [
        [1, 0],
        [1, 0],
      ],
    ],
    ["messages may have been missed", [[1, 0], []]],
  ])("reads the bus if %s", async (_, entries) => {
    const { publish, deliver, deliverMissed, readCount, texts } = await openSubscription();
    for (let n = 0; n < 3; n++) publish();
    for (const [sequence, after] of entries) {
      if (sequence === undefined) deliverMissed();
      else deliver(sequence, after);
    }
    await settle();
    expect([texts(), readCount()]).toEqual([["1", "2", "3"], 1]);
  });

  it("accepts an entry after an earlier position than its end, unless it has a message in between", async () => {
    // As on a bus whose end is that of all channels, or of a channel without messages.
    const { publish, deliver, readCount, texts } = await openSubscription(3);
    deliver(publish(), 1);
    await settle();
    expect([texts(), readCount()]).toEqual([["4"], 0]);
    deliver(publish(), 3); // of another history, without message 4
    await settle();
    expect(readCount()).toBe(1);
  });

  it("moves its end with the progress of the bus, without a read and without notifying its subscribers", async () => {
    const { subscription, deliver, deliverProgress, publish, readCount, texts } = await openSubscription();
    const subscriber = { notify: vi.fn() };
    subscription.subscribers.add(subscriber);
    const { buffer } = subscription;
    deliverProgress(4);
    deliverProgress(2); // an earlier one, which is not the end
    await settle();
    expect([buffer?.end, buffer?.endIndex, readCount()]).toEqual([positionAt(4), 0, 0]);
    expect(subscriber.notify).not.toHaveBeenCalled();
    for (let n = 0; n < 5; n++) publish();
    deliver(5, 4);
    await settle();
    expect([buffer?.end, texts(), readCount()]).toEqual([positionAt(5), ["5"], 0]);
    // A client may resume from any of its ends since the last message, and not from earlier ones.
    deliverProgress(7);
    deliverProgress(9);
    expect([5, 7, 9, 6, 4].map((sequence) => buffer?.indexAfter(positionAt(sequence)))).toEqual([1, 1, 1, null, null]);
  });

  it("does not move its end with the progress of the bus while messages may be missing", async () => {
    const { subscription, publish, deliverMissed, deliverProgress, setUnreachable, texts } = await openSubscription();
    publish();
    deliverMissed();
    deliverProgress(5); // during the read
    expect(subscription.buffer?.end).toBe(positionAt(0));
    await settle();
    expect([subscription.buffer?.end, texts()]).toEqual([positionAt(1), ["1"]]);
    setUnreachable(true);
    publish();
    deliverMissed();
    await settle();
    deliverProgress(5); // after a failed read
    expect(subscription.buffer?.end).toBe(positionAt(1));
    setUnreachable(false);
    await subscription.catchUp();
    expect(texts()).toEqual(["1", "2"]);
  });

  it("accepts no entry after a failed read before it has read the missed messages", async () => {
    const { subscription, publish, deliver, deliverMissed, setUnreachable, texts, onBusFailure } =
      await openSubscription();
    setUnreachable(true);
    publish();
    deliverMissed();
    await settle();
    expect([onBusFailure.mock.calls.length, subscription.isBehind]).toEqual([1, true]);
    deliver(publish());
    await settle();
    expect(texts()).toEqual([]);
    setUnreachable(false);
    await subscription.catchUp();
    expect([texts(), subscription.isBehind]).toEqual([["1", "2"], false]);
  });

  it("notifies its subscribers once for all messages of one turn of the event loop", async () => {
    const { subscription, publish, deliver } = await openSubscription();
    const subscriber = { notify: vi.fn() };
    subscription.subscribers.add(subscriber);
    for (let n = 0; n < 5; n++) deliver(publish());
    expect(subscriber.notify).not.toHaveBeenCalled();
    await settle();
    expect(subscriber.notify).toHaveBeenCalledTimes(1);
    deliver(publish());
    await settle();
    expect(subscriber.notify).toHaveBeenCalledTimes(2);
  });

  it("has every message once and in order, whichever entries are passed and whichever are missed", async () => {
    const step = fc.constantFrom("publish", "publish without after", "lose", "repeat", "settle");
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { publish, deliver, deliverMissed, texts } = await openSubscription();
        let count = 0;
        let isLost = false;
        for (const each of steps) {
          if (each === "settle") await settle();
          else if (each === "repeat") deliver(count, Math.max(0, count - 1));
          else {
            count = publish();
            // Without positions, a bus has to report that it has lost messages before it passes the next one.
            if (each === "publish without after" && isLost) deliverMissed();
            if (each === "lose") isLost = true;
            else deliver(count, each === "publish" ? count - 1 : undefined);
            if (each === "publish without after") isLost = false;
          }
        }
        deliverMissed();
        await settle();
        expect(texts()).toEqual(Array.from({ length: count }, (_, n) => String(n + 1)));
      }),
      { numRuns: 200 },
    );
  });
});

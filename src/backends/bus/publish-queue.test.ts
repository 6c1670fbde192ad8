import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type PublishBatch, PublishQueue, type PublishQueueOptions } from "./publish-queue.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Opens a queue whose bus passes each batch to the next of `handlers`; without one, it returns positions. */
function openQueue(options: Partial<PublishQueueOptions> = {}) {
  const sent: PublishBatch[] = [];
  const handlers: ((batch: PublishBatch) => Promise<string[]>)[] = [];
  const queue = new PublishQueue({
    send(batch) {
      sent.push(batch);
      const handleBatch = handlers.shift();
      return handleBatch ? handleBatch(batch) : Promise.resolve(batch.data.map((text) => `at ${text}`));
    },
    isTransient: (error) => error instanceof Error && error.message === "unreachable",
    maxBatchMessages: 3,
    timeoutMs: 1000,
    ...options,
  });
  const fail = (message: string) => async () => {
    throw new Error(message);
  };
  const hang = () => new Promise<string[]>(() => undefined);
  return { queue, sent, handlers, fail, hang };
}

describe("PublishQueue", () => {
  it("sends the messages of one turn together, in order, in batches with increasing numbers", async () => {
    const { queue, sent } = openQueue();
    const positions = await Promise.all(["1", "2", "3", "4"].map((text) => queue.publish("a", text)));
    expect(positions).toEqual(["at 1", "at 2", "at 3", "at 4"]);
    expect(sent).toEqual([
      { channel: "a", number: 1, data: ["1", "2", "3"] },
      { channel: "a", number: 2, data: ["4"] },
    ]);
  });

  it("sends one batch of a channel at a time, without delaying other channels", async () => {
    const { queue, sent, handlers } = openQueue();
    let resolveBatch: (positions: string[]) => void = () => undefined;
    handlers.push(() => new Promise((resolve) => (resolveBatch = resolve)));
    const first = queue.publish("a", "1");
    await vi.advanceTimersByTimeAsync(10);
    const second = queue.publish("a", "2");
    expect(await queue.publish("b", "x")).toBe("at x");
    expect(sent.map(({ data }) => data)).toEqual([["1"], ["x"]]);
    resolveBatch(["first"]);
    expect(await Promise.all([first, second])).toEqual(["first", "at 2"]);
  });

  it("retries 500 channels as often as one while the bus is unreachable, and all at once when it responds", async () => {
    let isUnreachable = true;
    let sends = 0;
    const { queue } = openQueue({
      async send({ channel, data }) {
        sends++;
        if (isUnreachable) throw new Error("unreachable");
        return data.map((text) => `${channel} ${text}`);
      },
    });
    const publish = (n: number) => queue.publish(`${n}`, "1").catch(() => "timed out");
    const timedOut = Array.from({ length: 500 }, (_, n) => publish(n));
    await vi.advanceTimersByTimeAsync(500);
    const inTime = Array.from({ length: 500 }, (_, n) => publish(500 + n));
    await vi.advanceTimersByTimeAsync(550);
    expect(new Set(await Promise.all(timedOut))).toEqual(new Set(["timed out"]));
    expect(sends).toBe(1_000 + 21);
    isUnreachable = false;
    await vi.advanceTimersByTimeAsync(100);
    expect(await Promise.all(inTime)).toEqual(inTime.map((_, n) => `${500 + n} 1`));
    expect(sends).toBe(1_000 + 21 + 500);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("sends the same batch again until the bus has stored it, also when messages were published meanwhile", async () => {
    const { queue, sent, handlers, fail } = openQueue();
    handlers.push(fail("unreachable"), fail("unreachable"));
    const first = queue.publish("a", "1");
    await vi.advanceTimersByTimeAsync(10);
    const second = queue.publish("a", "2");
    await vi.advanceTimersByTimeAsync(200);
    expect(await Promise.all([first, second])).toEqual(["at 1", "at 2"]);
    expect(sent.map(({ number, data }) => [number, ...data])).toEqual([
      [1, "1"],
      [1, "1"],
      [1, "1"],
      [2, "2"],
    ]);
  });

  it("rejects with the error of a bus that refuses the message, and continues with the next message", async () => {
    const { queue, handlers, fail, sent } = openQueue();
    handlers.push(fail("OOM"));
    await expect(queue.publish("a", "1")).rejects.toThrow("OOM");
    expect(await queue.publish("a", "2")).toBe("at 2");
    expect(sent).toHaveLength(2);
  });

  it("rejects after the timeout with the last reason, and drops messages that were never sent", async () => {
    const { queue, handlers, fail, sent } = openQueue({ maxBatchMessages: 1 });
    for (let at = 0; at < 100; at++) handlers.push(fail("unreachable"));
    const outcomes = ["1", "2"].map((text) => queue.publish("a", text).catch((error: Error) => error.message));
    let isSettled = false;
    void outcomes[1]?.then(() => {
      isSettled = true;
    });
    await vi.advanceTimersByTimeAsync(999);
    expect(isSettled).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const timeout = "The bus did not store the message within 1 s; it may or may not be delivered. unreachable";
    expect(await Promise.all(outcomes)).toEqual([timeout, timeout]);
    handlers.length = 0;
    await vi.advanceTimersByTimeAsync(100);
    expect(await queue.publish("a", "3")).toBe("at 3");
    expect(new Set(sent.map(({ data }) => data.join()))).toEqual(new Set(["1", "3"]));
  });

  it("accepts 32 MiB of pending messages, and rejects further ones at once", async () => {
    const { queue, handlers, hang } = openQueue();
    handlers.push(hang);
    const size = 1024 * 1024 - 256;
    const waiting = Array.from({ length: 32 }, () => queue.publish("a", "x".repeat(size)).catch(String));
    await expect(queue.publish("a", "")).rejects.toThrow("32 MiB of messages are pending");
    await expect(queue.publish("b", "1")).rejects.toThrow("32 MiB of messages are pending");
    await vi.advanceTimersByTimeAsync(1000);
    await Promise.all(waiting);
    expect(await queue.publish("b", "1")).toBe("at 1");
  });

  it("limits a batch to 256 KiB, unless one message alone exceeds that", async () => {
    const { queue, sent } = openQueue({ maxBatchMessages: 100 });
    const sizes = [100_000, 100_000, 100_000, 300_000, 1, 1];
    await Promise.all(sizes.map((size) => queue.publish("a", "x".repeat(size))));
    expect(sent.map(({ data }) => data.map(({ length }) => length))).toEqual([
      [100_000, 100_000],
      [100_000],
      [300_000],
      [1, 1],
    ]);
  });

  it("rejects pending and further messages when it is closed", async () => {
    const { queue, handlers, hang } = openQueue();
    handlers.push(hang);
    const outcomes = ["1", "2"].map((text) => queue.publish("a", text));
    const refused = Promise.all(
      outcomes.map((outcome) => expect(outcome).rejects.toThrow("closed before it had stored")),
    );
    queue.close();
    await refused;
    await expect(queue.publish("a", "3")).rejects.toThrow("The bus is closed.");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("rejects a message for which the bus returns no position", async () => {
    const { queue, handlers } = openQueue();
    handlers.push(async () => ["one"]);
    const outcomes = await Promise.allSettled(["1", "2"].map((text) => queue.publish("a", text)));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  describe("whose server can store a batch that arrives after later ones", () => {
    const RESEND_MS = 5_000;

    /** Opens a queue with messages of one batch each, to a server that responds to none until `respond` is called. */
    function openResending() {
      let isFrozen = true;
      const unconfirmed: PublishBatch[] = [];
      const sent: PublishBatch[] = [];
      const { queue } = openQueue({
        async send(batch, onSent) {
          onSent();
          sent.push(batch);
          if (isFrozen) throw new Error("unreachable");
          return batch.data.map((text) => `at ${text}`);
        },
        maxBatchMessages: 1,
        resendMs: () => RESEND_MS,
        onUnconfirmed: (batch) => unconfirmed.push(batch),
      });
      const publish = (text: string) => queue.publish("a", text).catch(() => `rejected ${text}`);
      const numbers = () => [...new Set(sent.map(({ number, data }) => `${number}: ${data}`))];
      const respond = () => {
        isFrozen = false;
      };
      return { queue, publish, unconfirmed, sent, numbers, respond };
    }

    it("sends the same batch after its publish has rejected, until the server confirms it, and no other of its channel", async () => {
      const { publish, unconfirmed, numbers, respond, queue } = openResending();
      const outcomes = [publish("1"), publish("2")];
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await Promise.all(outcomes)).toEqual(["rejected 1", "rejected 2"]);
      const later = [publish("3")];
      await vi.advanceTimersByTimeAsync(999);
      later.push(publish("4"));
      await vi.advanceTimersByTimeAsync(1);
      expect(await later[0]).toBe("rejected 3");
      expect(numbers()).toEqual(["1: 1"]);
      respond();
      await vi.advanceTimersByTimeAsync(100);
      expect(await later[1]).toBe("at 4");
      expect(numbers()).toEqual(["1: 1", "2: 4"]);
      expect(unconfirmed).toEqual([]);
      expect(await queue.publish("b", "5")).toBe("at 5");
      expect(vi.getTimerCount()).toBe(0);
    });

    it("reports a batch that stays unconfirmed, and sends the next one of its channel then and not before", async () => {
      const { publish, unconfirmed, numbers } = openResending();
      const first = publish("1");
      await vi.advanceTimersByTimeAsync(4_500);
      const second = publish("2");
      await vi.advanceTimersByTimeAsync(499);
      expect([numbers(), unconfirmed]).toEqual([["1: 1"], []]);
      await vi.advanceTimersByTimeAsync(100);
      expect(numbers()).toEqual(["1: 1", "2: 2"]);
      expect(unconfirmed.map(({ number }) => number)).toEqual([1]);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await Promise.all([first, second])).toEqual(["rejected 1", "rejected 2"]);
    });

    it("counts a batch that is sent again against the limit, and drops messages that have timed out behind it", async () => {
      const { publish, queue } = openResending();
      const size = 1024 * 1024 - 256;
      const round = () => Array.from({ length: 31 }, () => publish("x".repeat(size)));
      const outcomes = [publish("x".repeat(size))];
      for (let at = 0; at < 4; at++) {
        outcomes.push(...round());
        await expect(queue.publish("b", "1")).rejects.toThrow("32 MiB of messages are pending");
        await vi.advanceTimersByTimeAsync(1_000);
      }
      expect(new Set((await Promise.all(outcomes)).map((text) => text.slice(0, 8)))).toEqual(new Set(["rejected"]));
      queue.close();
      await vi.advanceTimersByTimeAsync(100);
      expect(vi.getTimerCount()).toBe(0);
    });

    it("goes on sending a batch that is refused when an earlier attempt may still be stored", async () => {
      const outcomes = ["unreachable", "refused", "refused"];
      const { queue } = openQueue({
        async send({ data }, onSent) {
          onSent();
          const error = outcomes.shift();
          if (error !== undefined) throw new Error(error);
          return data.map((text) => `at ${text}`);
        },
        resendMs: () => RESEND_MS,
      });
      const first = queue.publish("a", "1").catch(String);
      await vi.advanceTimersByTimeAsync(60);
      expect(await first).toBe("Error: refused");
      const second = queue.publish("a", "2");
      await vi.advanceTimersByTimeAsync(200);
      expect(await second).toBe("at 2");
      expect(outcomes).toEqual([]);
    });

    it("drops a batch that was never passed to the server when its publish rejects", async () => {
      const { queue, sent, handlers, fail } = openQueue({ resendMs: () => RESEND_MS });
      for (let at = 0; at < 100; at++) handlers.push(fail("unreachable"));
      const first = queue.publish("a", "1").catch(() => "rejected");
      await vi.advanceTimersByTimeAsync(1_100);
      expect(await first).toBe("rejected");
      handlers.length = 0;
      expect(await queue.publish("a", "2")).toBe("at 2");
      expect(new Set(sent.map(({ data }) => data.join()))).toEqual(new Set(["1", "2"]));
    });
  });
});

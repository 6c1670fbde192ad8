import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PublishQueue, type PublishQueueOptions, type PublishBatch } from "./publish-queue.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** An outbox whose bus does as it is told, for one parcel after the other. */
function open(options: Partial<PublishQueueOptions> = {}) {
  const sent: PublishBatch[] = [];
  const answers: ((parcel: PublishBatch) => Promise<string[]>)[] = [];
  const outbox = new PublishQueue({
    send(parcel) {
      sent.push(parcel);
      const answer = answers.shift();
      return answer ? answer(parcel) : Promise.resolve(parcel.data.map((text) => `at ${text}`));
    },
    isPassing: (error) => error instanceof Error && error.message === "away",
    perParcel: 3,
    waitMs: 1000,
    ...options,
  });
  const fail = (message: string) => async () => {
    throw new Error(message);
  };
  const hang = () => new Promise<string[]>(() => undefined);
  return { outbox, sent, answers, fail, hang };
}

describe("an outbox", () => {
  it("sends what is published at one go together, in order, with a number that grows", async () => {
    const { outbox, sent } = open();
    const positions = await Promise.all(["1", "2", "3", "4"].map((text) => outbox.publish("a", text)));
    expect(positions).toEqual(["at 1", "at 2", "at 3", "at 4"]);
    expect(sent).toEqual([
      { channel: "a", number: 1, data: ["1", "2", "3"] },
      { channel: "a", number: 2, data: ["4"] },
    ]);
  });

  it("sends nothing of a channel while another parcel of it is under way; other channels do not wait", async () => {
    const { outbox, sent, answers } = open();
    let answer: (positions: string[]) => void = () => undefined;
    answers.push(() => new Promise((resolve) => (answer = resolve)));
    const first = outbox.publish("a", "1");
    await vi.advanceTimersByTimeAsync(10);
    const second = outbox.publish("a", "2");
    expect(await outbox.publish("b", "x")).toBe("at x");
    expect(sent.map(({ data }) => data)).toEqual([["1"], ["x"]]);
    answer(["first"]);
    expect(await Promise.all([first, second])).toEqual(["first", "at 2"]);
  });

  it("asks a bus that is away no more often when many channels wait for it, and all at once when it answers", async () => {
    let isAway = true;
    let sends = 0;
    const { outbox } = open({
      async send({ channel, data }) {
        sends++;
        if (isAway) throw new Error("away");
        return data.map((text) => `${channel} ${text}`);
      },
    });
    const publish = (n: number) => outbox.publish(`${n}`, "1").catch(() => "late");
    const late = Array.from({ length: 500 }, (_, n) => publish(n));
    await vi.advanceTimersByTimeAsync(500);
    const inTime = Array.from({ length: 500 }, (_, n) => publish(500 + n));
    await vi.advanceTimersByTimeAsync(550);
    expect(new Set(await Promise.all(late))).toEqual(new Set(["late"]));
    expect(sends).toBe(1_000 + 21);
    isAway = false;
    await vi.advanceTimersByTimeAsync(100);
    expect(await Promise.all(inTime)).toEqual(inTime.map((_, n) => `${500 + n} 1`));
    expect(sends).toBe(1_000 + 21 + 500);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("sends the same parcel again, whatever was published meanwhile, until the bus has it", async () => {
    const { outbox, sent, answers, fail } = open();
    answers.push(fail("away"), fail("away"));
    const first = outbox.publish("a", "1");
    await vi.advanceTimersByTimeAsync(10);
    const second = outbox.publish("a", "2");
    await vi.advanceTimersByTimeAsync(200);
    expect(await Promise.all([first, second])).toEqual(["at 1", "at 2"]);
    expect(sent.map(({ number, data }) => [number, ...data])).toEqual([
      [1, "1"],
      [1, "1"],
      [1, "1"],
      [2, "2"],
    ]);
  });

  it("fails with the reason when the bus refuses, and goes on with what comes next", async () => {
    const { outbox, answers, fail, sent } = open();
    answers.push(fail("OOM"));
    await expect(outbox.publish("a", "1")).rejects.toThrow("OOM");
    expect(await outbox.publish("a", "2")).toBe("at 2");
    expect(sent).toHaveLength(2);
  });

  it("waits as long as it may and not longer, says why, and lets go of what it never sent", async () => {
    const { outbox, answers, fail, sent } = open({ perParcel: 1 });
    for (let at = 0; at < 100; at++) answers.push(fail("away"));
    const outcomes = ["1", "2"].map((text) => outbox.publish("a", text).catch((error: Error) => error.message));
    let isOver = false;
    void outcomes[1]?.then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const late = "The bus did not take the message within 1 s; whether it will arrive is not known. away";
    expect(await Promise.all(outcomes)).toEqual([late, late]);
    answers.length = 0;
    await vi.advanceTimersByTimeAsync(100);
    expect(await outbox.publish("a", "3")).toBe("at 3");
    expect(new Set(sent.map(({ data }) => data.join()))).toEqual(new Set(["1", "3"]));
  });

  it("holds 32 MiB that wait, and refuses more at once", async () => {
    const { outbox, answers, hang } = open();
    answers.push(hang);
    const size = 1024 * 1024 - 256;
    const waiting = Array.from({ length: 32 }, () => outbox.publish("a", "x".repeat(size)).catch(String));
    await expect(outbox.publish("a", "")).rejects.toThrow("too many messages wait");
    await expect(outbox.publish("b", "1")).rejects.toThrow("too many messages wait");
    await vi.advanceTimersByTimeAsync(1000);
    await Promise.all(waiting);
    expect(await outbox.publish("b", "1")).toBe("at 1");
  });

  it("keeps a parcel to 256 KiB, unless one message alone is more", async () => {
    const { outbox, sent } = open({ perParcel: 100 });
    const sizes = [100_000, 100_000, 100_000, 300_000, 1, 1];
    await Promise.all(sizes.map((size) => outbox.publish("a", "x".repeat(size))));
    expect(sent.map(({ data }) => data.map(({ length }) => length))).toEqual([
      [100_000, 100_000],
      [100_000],
      [300_000],
      [1, 1],
    ]);
  });

  it("rejects all that waits when it is closed, and whatever comes", async () => {
    const { outbox, answers, hang } = open();
    answers.push(hang);
    const outcomes = ["1", "2"].map((text) => outbox.publish("a", text));
    const refused = Promise.all(outcomes.map((each) => expect(each).rejects.toThrow("closed before it had")));
    outbox.close();
    await refused;
    await expect(outbox.publish("a", "3")).rejects.toThrow("The bus is closed.");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("fails a message of which the bus gives no position", async () => {
    const { outbox, answers } = open();
    answers.push(async () => ["one"]);
    const outcomes = await Promise.allSettled(["1", "2"].map((text) => outbox.publish("a", text)));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { recordedLog } from "#test/recorded-log";
import type { RequestContext } from "../http/index.ts";
import { FeedReader } from "./feed-reader.ts";
import { handlePoll } from "./handle-poll.ts";
import { SubscriptionHub } from "./subscription-hub.ts";

let bus: FaultyBus;
let hub: SubscriptionHub;

beforeEach(() => {
  bus = createFaultyBus();
  hub = new SubscriptionHub(bus, recordedLog().log);
});
afterEach(async () => {
  hub.close();
  await bus.close();
});

/** Polls, and returns the body of the response. */
async function poll(channels: readonly string[], { from, wait = 0 }: { from: readonly string[]; wait?: number }) {
  const readers = channels.map((channel, i) => new FeedReader(channel, from[i] ?? ""));
  const url = new URL(`http://shop.example/__web/poll?wait=${wait}`);
  const context = { url, inbound: { signal: new AbortController().signal } };
  const response = await handlePoll({ readers, gaps: [] }, hub, context as RequestContext); // it uses nothing else
  return JSON.parse(String(response.body));
}

describe("a waiting poll", () => {
  it("does not read the bus while its channel has no messages, though other channels move the end", async () => {
    const read = bus.read;
    bus.read = async (channel, after, limit) => {
      await bus.publish("elsewhere", "1");
      return read(channel, after, limit);
    };
    const readsWhenIdle = async () => {
      for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
      return bus.readCount;
    };
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const polls: ReturnType<typeof poll>[] = [];
      for (let n = 0; n < 3; n++) polls.push(poll(["quiet"], { from: await bus.position(["quiet"]), wait: 25 }));
      const reads = await readsWhenIdle();
      for (let seconds = 0; seconds < 5; seconds++) {
        vi.advanceTimersByTime(1_000);
        await readsWhenIdle();
      }
      await bus.publish("quiet", "1");
      for (const { events } of await Promise.all(polls)) expect(events).toEqual([["quiet", 1]]);
      expect(bus.readCount).toBe(reads);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("the response of a poll", () => {
  it("has `more` when it is full, and only then", async () => {
    let from = await bus.position(["a", "b"]);
    for (let n = 0; n < 40; n++) await bus.publish("a", JSON.stringify("x".repeat(10_000)));
    await bus.publish("b", "1");
    const mores: unknown[] = [];
    let received = 0;
    for (let more: unknown = true; more; ) {
      const response = await poll(["a", "b"], { from });
      received += response.events.length;
      from = response.cursor.split(",");
      more = response.more;
      mores.push(more);
    }
    expect(received).toBe(41);
    expect(mores).toEqual([true, true, undefined]);
    expect(await poll(["a", "b"], { from })).toEqual({ events: [], gaps: [], cursor: from.join() });
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { recordedLog } from "#test/recorded-log";
import { requestContextOf } from "#test/request-context";
import { FeedReader } from "./feed-reader.ts";
import { handlePoll } from "./poll.ts";
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

interface PollSettings {
  readonly from: readonly string[];
  readonly wait?: number;
  readonly expiresAtMs?: number;
  readonly isAboveLimit?: boolean;
  readonly hasShortIds?: boolean;
}

/** Polls, and returns the body of the response. */
async function poll(
  channels: readonly string[],
  { from, wait = 0, expiresAtMs, isAboveLimit = false, hasShortIds = false }: PollSettings,
) {
  const readers = channels.map((channel, i) => new FeedReader(channel, from[i] ?? "", expiresAtMs));
  const request = { readers, gaps: [], hasShortIds, tokens: [], queries: [], waitSeconds: wait };
  const context = requestContextOf(new Request("http://shop.example/__web/poll"));
  const response = await handlePoll(request, hub, { context, presence: null, queries: null, isAboveLimit });
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

describe("a poll of a client above its limit of connections", () => {
  it.each([
    { isAboveLimit: true, wait: 25, seconds: 10 },
    { isAboveLimit: true, wait: 10, seconds: 10 },
    { isAboveLimit: true, wait: 9, seconds: 9 },
    { isAboveLimit: true, wait: 0, seconds: 0 },
    { isAboveLimit: false, wait: 25, seconds: 25 },
  ])("waits for at most 10 seconds: %o", async ({ isAboveLimit, wait, seconds }) => {
    vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
    try {
      let isAnswered = false;
      const polling = poll(["a"], { from: await bus.position(["a"]), wait, isAboveLimit });
      void polling.then(() => {
        isAnswered = true;
      });
      for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate);
      await vi.advanceTimersByTimeAsync(Math.max(0, seconds * 1000 - 1));
      expect(isAnswered).toBe(seconds === 0);
      await vi.advanceTimersByTimeAsync(1);
      expect(isAnswered).toBe(true);
      expect((await polling).events).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a feed that expires during a poll", () => {
  it("gets the gap `expired`, and no message that is published later", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const polling = poll(["a"], {
        from: await bus.position(["a"]),
        wait: 25,
        expiresAtMs: performance.now() + 1_000,
      });
      await new Promise(setImmediate);
      vi.advanceTimersByTime(1_000);
      await bus.publish("a", "1");
      expect(await polling).toMatchObject({ events: [], gaps: [["a", "expired"]], cursor: "-" });
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

describe("a poll with a gap", () => {
  it("returns in which time its page is to reload if many connections have it", async () => {
    const connections = vi.spyOn(hub, "connectionCount", "get").mockReturnValue(10_000);
    const from = await bus.position(["a"]);
    bus.loseHistory();
    expect((await poll(["a"], { from })).gaps).toEqual([["a", "reset", 40_000]]);
    connections.mockReturnValue(750);
    expect((await poll(["a"], { from })).gaps).toEqual([["a", "reset"]]);
  });
});

describe("the cursor of a poll", () => {
  it.each([0, 1])(
    "has the positions of quiet channels too, as a subscription knows them (wait: %i s)",
    async (wait) => {
      const from = await bus.position(["quiet"]);
      const open = poll(["quiet"], { from, wait: 25 });
      await expect.poll(() => hub.getSubscription("quiet")?.buffer).toBeTruthy();
      await bus.publish("elsewhere", "1");
      await bus.notifyProgress("quiet");
      const end = (await bus.position(["quiet"])).join();
      expect(end).not.toBe(from.join());
      const reads = bus.readCount;
      expect(await poll(["quiet"], { from, wait })).toEqual({ events: [], gaps: [], cursor: end });
      expect(bus.readCount).toBe(reads);
      hub.end();
      expect((await open).cursor).toBe(end);
    },
  );
});

describe("a poll by POST", () => {
  it("returns with each event its id: the index of its feed, and its position", async () => {
    const from = await bus.position(["a", "b"]);
    const positions: string[] = [];
    for (const channel of ["a", "b", "a"]) positions.push(await bus.publish(channel, "1"));
    const { events } = await poll(["a", "b"], { from, hasShortIds: true });
    expect(events).toEqual([
      ["a", 1, `0=${positions[0]}`],
      ["a", 1, `0=${positions[2]}`],
      ["b", 1, `1=${positions[1]}`],
    ]);
    expect((await poll(["a", "b"], { from })).events[0]).toEqual(["a", 1]);
  });
});

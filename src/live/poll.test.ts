import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keptLog } from "#test/log-lines";
import { type SteeredBus, steeredBus } from "#test/steered-bus";
import type { RequestContext } from "../http/index.ts";
import { Hub } from "./hub.ts";
import { answerPoll } from "./poll.ts";
import { Reader } from "./reader.ts";

let bus: SteeredBus;
let hub: Hub;

beforeEach(() => {
  bus = steeredBus();
  hub = new Hub(bus, keptLog().log);
});
afterEach(async () => {
  hub.close();
  await bus.close();
});

/** Polls. @returns its answer */
async function poll(channels: readonly string[], { from, wait = 0 }: { from: readonly string[]; wait?: number }) {
  const readers = channels.map((channel, i) => new Reader(channel, from[i] ?? ""));
  const url = new URL(`http://shop.example/__web/poll?wait=${wait}`);
  const asked = { url, raw: { signal: new AbortController().signal } };
  const reply = await answerPoll({ readers, lost: [] }, hub, asked as RequestContext); // it looks at no more of it
  return JSON.parse(String(reply.body));
}

describe("a poll that waits", () => {
  it("leaves the bus alone while there is nothing, though other channels move its end", async () => {
    const read = bus.read;
    bus.read = async (channel, after, limit) => {
      await bus.publish("elsewhere", "1");
      return read(channel, after, limit);
    };
    const settled = async () => {
      for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
      return bus.reads;
    };
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const polls: ReturnType<typeof poll>[] = [];
      for (let n = 0; n < 3; n++) polls.push(poll(["quiet"], { from: await bus.position(["quiet"]), wait: 25 }));
      const reads = await settled();
      for (let seconds = 0; seconds < 5; seconds++) {
        vi.advanceTimersByTime(1_000);
        await settled();
      }
      await bus.publish("quiet", "1");
      for (const { events } of await Promise.all(polls)) expect(events).toEqual([["quiet", 1]]);
      expect(bus.reads).toBe(reads);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("an answer", () => {
  it("says that there may be more when it is full, and only then", async () => {
    let from = await bus.position(["a", "b"]);
    for (let n = 0; n < 40; n++) await bus.publish("a", JSON.stringify("x".repeat(10_000)));
    await bus.publish("b", "1");
    const answers: unknown[] = [];
    let got = 0;
    for (let more: unknown = true; more; ) {
      const answer = await poll(["a", "b"], { from });
      got += answer.events.length;
      from = answer.cursor.split(",");
      more = answer.more;
      answers.push(more);
    }
    expect(got).toBe(41);
    expect(answers).toEqual([true, true, undefined]);
    expect(await poll(["a", "b"], { from })).toEqual({ events: [], gaps: [], cursor: from.join() });
  });
});

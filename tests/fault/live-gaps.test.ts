/**
 * What cannot be complete any more, on real servers: each feed is told so once, gets no part of what came, and
 * the others go on.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readEvents } from "#test/event-stream";
import { NatsServer } from "#test/nats-server";
import { RedisServer } from "#test/redis-server";
import type { Site } from "#test/site";
import { callFunction } from "#test/torture-call";
import { publish } from "#test/torture-publisher";
import { buildTortureSite, movedCalendar, Process, sharedEnvironment } from "#test/torture-site";

const DAY_MS = 86_400_000;

let site: Site;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  site = await buildTortureSite();
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

afterAll(() => site?.remove());

async function serve(busUrl?: string): Promise<Process> {
  const server = await Process.start(site.dir, sharedEnvironment(busUrl));
  ends.push(() => server.stop());
  return server;
}

async function startRedis(): Promise<RedisServer> {
  const redis = await RedisServer.start({ appendOnly: true });
  ends.push(() => redis.stop());
  return redis;
}

async function startNats(): Promise<NatsServer> {
  const server = await NatsServer.start();
  ends.push(() => server.stop());
  return server;
}

/** Gets feeds of channels; tries again while the server finds its bus. */
async function feedsOf({ address }: Process, ...names: string[]): Promise<string[]> {
  let feeds: string[] = [];
  await expect
    .poll(
      async () => {
        feeds = await callFunction<string[]>(address, "feeds", { names });
        return feeds.length;
      },
      { timeout: 15_000 },
    )
    .toBe(names.length);
  return feeds;
}

async function say({ address }: Process, room: string, ...texts: string[]): Promise<void> {
  expect(await publish(address, room, texts)).toEqual(texts.map(() => true));
}

/** What came of listening: gaps as `room reason`, messages as their texts, and where it ended. */
interface Heard {
  readonly gaps: string[];
  readonly texts: string[];
  readonly cursor: string;
}

/** Listens by a stream until a text comes. */
async function stream(address: string, feeds: readonly string[], { after = "", until = "" }): Promise<Heard> {
  const heard = { gaps: [] as string[], texts: [] as string[], cursor: after };
  const query = new URLSearchParams(feeds.map((feed) => ["feed", feed]));
  const headers: Record<string, string> = after === "" ? {} : { "last-event-id": after };
  const response = await fetch(`${address}/__web/live?${query}`, { headers });
  expect(response.status).toBe(200);
  for await (const { event, id, data } of readEvents(response.body)) {
    if (event === "ping") continue;
    heard.cursor = id;
    if (event === "gap") heard.gaps.push(data.join(" "));
    else heard.texts.push(JSON.parse(data[1] ?? ""));
    if (heard.texts.includes(until)) break;
  }
  return heard;
}

/** Listens by polls until a text comes. */
async function poll(address: string, feeds: readonly string[], { after = "", until = "" }): Promise<Heard> {
  const heard = { gaps: [] as string[], texts: [] as string[], cursor: after };
  while (!heard.texts.includes(until)) {
    const query = new URLSearchParams(feeds.map((feed) => ["feed", feed]));
    if (heard.cursor !== "") query.set("after", heard.cursor);
    const response = await fetch(`${address}/__web/poll?${query}&wait=5`);
    expect(response.status).toBe(200);
    const { events, gaps, cursor } = await response.json();
    heard.gaps.push(...gaps.map((gap: string[]) => gap.join(" ")));
    heard.texts.push(...events.map(([, text]: string[]) => text));
    heard.cursor = cursor;
  }
  return heard;
}

/**
 * Listens with a feed that has missed something and with one of now, by a stream and by polls: the first is told
 * once, and gets nothing, also not with the cursor that it is given; the second gets everything.
 */
async function expectGap(server: Process, old: string, reason: string | RegExp): Promise<void> {
  for (const listen of [stream, poll]) {
    const feeds = [old, ...(await feedsOf(server, "new"))];
    await say(server, "old", "too late");
    await say(server, "new", "first");
    const { gaps, texts, cursor } = await listen(server.address, feeds, { until: "first" });
    expect(gaps).toEqual([expect.stringMatching(reason)]);
    expect(texts).toEqual(["first"]);
    expect(cursor).toMatch(/^-,[^-,]/);
    await say(server, "old", "later still");
    await say(server, "new", "second");
    const again = await listen(server.address, feeds, { after: cursor, until: "second" });
    expect([again.gaps, again.texts]).toEqual([[], ["second"]]);
  }
}

/** Gives a feed that is in the middle: its channel has messages before and after its position. */
async function feedInTheMiddle(server: Process): Promise<string> {
  await say(server, "old", "before");
  const [feed = ""] = await feedsOf(server, "old");
  await say(server, "old", "1", "2", "3");
  return feed;
}

describe("a gap is told once, and no messages with it", () => {
  it("when more came than the memory of a process keeps", async () => {
    const server = await serve();
    const feed = await feedInTheMiddle(server);
    const texts = Array.from({ length: 997 }, (_, n) => `${n}`);
    await say(server, "old", ...texts);
    // 1,000 came after it: all of them are there.
    const { gaps, texts: got } = await stream(server.address, [feed], { until: "996" });
    expect([gaps, got]).toEqual([[], ["1", "2", "3", ...texts]]);
    await say(server, "old", "one too many");
    await expectGap(server, feed, /^old trimmed$/);
  });

  it("when the process was started anew that had the messages in memory", async () => {
    const server = await serve();
    const feed = await feedInTheMiddle(server);
    await server.kill();
    await server.restart();
    // What a history was called before it is the earlier one: it counts as left behind.
    await expectGap(server, feed, /^old reset$/);
  });

  it("when Redis has trimmed the channel", async () => {
    const redis = await startRedis();
    const server = await serve(redis.url);
    const feed = await feedInTheMiddle(server);
    const key = "tsweb:bus:channel:old";
    await redis.client().xtrim(key, "MAXLEN", 3);
    expect((await stream(server.address, [feed], { until: "3" })).texts).toEqual(["1", "2", "3"]);
    await redis.client().xtrim(key, "MAXLEN", 2);
    await expectGap(server, feed, /^old trimmed$/);
  });

  it("when Redis was emptied", async () => {
    const redis = await startRedis();
    const server = await serve(redis.url);
    const feed = await feedInTheMiddle(server);
    await redis.client().flushall();
    // The epoch of after is the later one: who stood before it is behind.
    await expectGap(server, feed, /^old reset$/);
  });

  it("when the stream of NATS was deleted", async () => {
    const bus = await startNats();
    const server = await serve(bus.url);
    const feed = await feedInTheMiddle(server);
    await bus.deleteStream("tsweb");
    await expectGap(server, feed, /^old reset$/);
  });

  it.each([
    ["Redis", startRedis],
    ["NATS", startNats],
  ])("when %s was set back to before the position", async (_, start) => {
    const bus = await start();
    const server = await serve(bus.url);
    await say(server, "old", "kept");
    await bus.kill();
    bus.save();
    await bus.restart();
    await expect.poll(() => publish(server.address, "old", ["lost"]), { timeout: 15_000 }).toEqual([true]);
    const [feed = ""] = await feedsOf(server, "old");
    await bus.kill();
    bus.restore();
    await bus.restart();
    await expectGap(server, feed, /^old reset$/);
  });

  it("when the feed is 24 hours old, and not a minute before", async () => {
    const redis = await startRedis();
    const server = await serve(redis.url);
    const feed = await feedInTheMiddle(server);
    await server.kill();
    await server.restart(movedCalendar(DAY_MS - 60_000));
    const { gaps, texts } = await stream(server.address, [feed], { until: "3" });
    expect([gaps, texts]).toEqual([[], ["1", "2", "3"]]);
    await server.kill();
    await server.restart(movedCalendar(DAY_MS));
    await expectGap(server, feed, /^old expired$/);
  });
});

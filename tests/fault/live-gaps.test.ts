/**
 * Feeds that can no longer be delivered completely, on real servers: each gets one gap and no messages, and the other
 * feeds of the request continue.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { AppProcess, sharedEnv, shiftedDateArgs, TEST_NAMESPACE } from "#test/app-process";
import { callFunction } from "#test/call-function";
import { readEvents } from "#test/event-stream";
import { buildLiveApp } from "#test/live-app";
import { NatsServer } from "#test/nats-server";
import { RedisServer } from "#test/redis-server";
import type { TestProject } from "#test/test-project";
import { publishTexts } from "#test/torture-publisher";

const DAY_MS = 86_400_000;

let project: TestProject;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  project = await buildLiveApp();
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

afterAll(() => project?.remove());

async function serve(busUrl?: string): Promise<AppProcess> {
  const server = await AppProcess.start(project.dir, sharedEnv(busUrl));
  cleanups.push(() => server.stop());
  return server;
}

async function startRedis(): Promise<RedisServer> {
  const redis = await RedisServer.start({ appendOnly: true });
  cleanups.push(() => redis.stop());
  return redis;
}

async function startNats(): Promise<NatsServer> {
  const server = await NatsServer.start();
  cleanups.push(() => server.stop());
  return server;
}

/** Returns feeds of channels. Retries while the server reconnects to its bus. */
async function issueFeeds({ address }: AppProcess, ...names: string[]): Promise<string[]> {
  let feeds: string[] = [];
  await expect
    .poll(async () => {
      feeds = await callFunction<string[]>(address, "issue_feeds", { names });
      return feeds.length;
    })
    .toBe(names.length);
  return feeds;
}

async function publish({ address }: AppProcess, room: string, ...texts: string[]): Promise<void> {
  expect(await publishTexts(address, room, texts)).toEqual(texts.map(() => true));
}

/** The data that a client has received: gaps as `room reason`, the texts of messages, and the last cursor. */
interface Received {
  readonly gaps: string[];
  readonly texts: string[];
  readonly cursor: string;
}

/** Reads an event stream until a text arrives. */
async function readStream(address: string, feeds: readonly string[], { after = "", until = "" }): Promise<Received> {
  const received = { gaps: [] as string[], texts: [] as string[], cursor: after };
  const query = new URLSearchParams(feeds.map((feed) => ["feed", feed]));
  const headers: Record<string, string> = after === "" ? {} : { "last-event-id": after };
  const response = await fetch(`${address}/__web/live?${query}`, { headers });
  expect(response.status).toBe(200);
  for await (const { event, id, data } of readEvents(response.body)) {
    if (event === "ping") continue;
    received.cursor = id;
    if (event === "gap") received.gaps.push(data.join(" "));
    else received.texts.push(JSON.parse(data[1] ?? ""));
    if (received.texts.includes(until)) break;
  }
  return received;
}

/** Polls until a text arrives. */
async function poll(address: string, feeds: readonly string[], { after = "", until = "" }): Promise<Received> {
  const received = { gaps: [] as string[], texts: [] as string[], cursor: after };
  while (!received.texts.includes(until)) {
    const query = new URLSearchParams(feeds.map((feed) => ["feed", feed]));
    if (received.cursor !== "") query.set("after", received.cursor);
    const response = await fetch(`${address}/__web/poll?${query}&wait=5`);
    expect(response.status).toBe(200);
    const { events, gaps, cursor } = await response.json();
    received.gaps.push(...gaps.map((gap: string[]) => gap.join(" ")));
    received.texts.push(...events.map(([, text]: string[]) => text));
    received.cursor = cursor;
  }
  return received;
}

/**
 * Reads an old feed with a gap together with a new feed, by event stream and by polls. The old feed gets one gap and no
 * messages, also after the client has resumed. The new feed gets every message.
 */
async function expectGap(server: AppProcess, oldFeed: string, reason: string | RegExp): Promise<void> {
  for (const read of [readStream, poll]) {
    const feeds = [oldFeed, ...(await issueFeeds(server, "new"))];
    await publish(server, "old", "too late");
    await publish(server, "new", "first");
    const { gaps, texts, cursor } = await read(server.address, feeds, { until: "first" });
    expect(gaps).toEqual([expect.stringMatching(reason)]);
    expect(texts).toEqual(["first"]);
    expect(cursor).toMatch(/^-,[^-,]/);
    await publish(server, "old", "later still");
    await publish(server, "new", "second");
    const resumed = await read(server.address, feeds, { after: cursor, until: "second" });
    expect([resumed.gaps, resumed.texts]).toEqual([[], ["second"]]);
  }
}

/** Returns a feed of the channel `old`, which has messages before and after the feed's position. */
async function issueOldFeed(server: AppProcess): Promise<string> {
  await publish(server, "old", "before");
  const [feed = ""] = await issueFeeds(server, "old");
  await publish(server, "old", "1", "2", "3");
  return feed;
}

describe("a feed gets one gap and no messages", () => {
  it("when more messages were published than a bus in memory stores", async () => {
    const server = await serve();
    const feed = await issueOldFeed(server);
    const texts = Array.from({ length: 997 }, (_, n) => `${n}`);
    await publish(server, "old", ...texts);
    // 1,000 messages after the position: all of them are stored.
    const { gaps, texts: received } = await readStream(server.address, [feed], { until: "996" });
    expect([gaps, received]).toEqual([[], ["1", "2", "3", ...texts]]);
    await publish(server, "old", "one too many");
    await expectGap(server, feed, /^old trimmed$/);
  });

  it("when the process with a bus in memory was restarted", async () => {
    const server = await serve();
    const feed = await issueOldFeed(server);
    await server.kill();
    await server.restart();
    await expectGap(server, feed, /^old reset$/);
  });

  it("when Redis has trimmed the channel", async () => {
    const redis = await startRedis();
    const server = await serve(redis.url);
    const feed = await issueOldFeed(server);
    const key = `tsweb:{${TEST_NAMESPACE}}:channel:old`;
    await redis.client().xtrim(key, "MAXLEN", 3);
    expect((await readStream(server.address, [feed], { until: "3" })).texts).toEqual(["1", "2", "3"]);
    await redis.client().xtrim(key, "MAXLEN", 2);
    await expectGap(server, feed, /^old trimmed$/);
  });

  it("when Redis was emptied", async () => {
    const redis = await startRedis();
    const server = await serve(redis.url);
    const feed = await issueOldFeed(server);
    await redis.client().flushall();
    await expectGap(server, feed, /^old reset$/);
  });

  it("when the stream of NATS was deleted", async () => {
    const nats = await startNats();
    const server = await serve(nats.url);
    const feed = await issueOldFeed(server);
    await nats.deleteStream(`tsweb-live-${TEST_NAMESPACE}`);
    await expectGap(server, feed, /^old reset$/);
  });

  it.each([
    ["Redis", startRedis],
    ["NATS", startNats],
  ])("when %s was restored to a state before the position of the feed", async (_, start) => {
    const bus = await start();
    const server = await serve(bus.url);
    await publish(server, "old", "kept");
    await bus.kill();
    bus.save();
    await bus.restart();
    await expect.poll(() => publishTexts(server.address, "old", ["lost"])).toEqual([true]);
    const [feed = ""] = await issueFeeds(server, "old");
    await bus.kill();
    bus.restore();
    await bus.restart();
    await expectGap(server, feed, /^old reset$/);
  });

  it("when the feed is 24 hours old, and not a minute earlier", async () => {
    const redis = await startRedis();
    const server = await serve(redis.url);
    const feed = await issueOldFeed(server);
    await server.kill();
    await server.restart(shiftedDateArgs(DAY_MS - 60_000));
    const { gaps, texts } = await readStream(server.address, [feed], { until: "3" });
    expect([gaps, texts]).toEqual([[], ["1", "2", "3"]]);
    await server.kill();
    await server.restart(shiftedDateArgs(DAY_MS));
    await expectGap(server, feed, /^old expired$/);
  });
});

import { afterEach, describe, expect, it, test, vi } from "vitest";
import { createTestApp } from "#test/compiled-app";
import { createFaultyBus } from "#test/faulty-bus";
import { issueFeed, liveFunctions, openEventStream, poll, requestLive } from "#test/live-client";
import type { App } from "../app.ts";
import { createRealtime, publish } from "./index.ts";
import { ConnectionsByBuild } from "./live-updates.ts";

const apps: App[] = [];
function openApp(env: Record<string, string> = {}): App {
  const app = createTestApp(liveFunctions, { rate: false, env: { WEB_AUTH_SECRET: "5a".repeat(32), ...env } });
  apps.push(app);
  return app;
}

afterEach(async () => {
  vi.useRealTimers();
  for (const app of apps.splice(0)) await app.close();
});

describe("an event stream", () => {
  it("delivers what was published after the feed was issued, before and after it was opened, in order", async () => {
    const app = openApp();
    await publish("room:1", "before the feed");
    const feed = await issueFeed(app, "room:1");
    await publish("room:1", { n: 1 });
    const stream = await openEventStream(app, [feed]);
    await publish("room:2", "elsewhere");
    await publish("room:1", { n: 2 });
    await publish("room:1", { n: 3 });
    expect(await stream.take(3)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await stream.close();
  });

  it("resumes after any event, by the parameter `after` or by Last-Event-ID", async () => {
    const app = openApp();
    const feed = await issueFeed(app, "room:1");
    for (let n = 1; n <= 5; n++) await publish("room:1", n);
    const stream = await openEventStream(app, [feed]);
    const ids = [];
    for (let n = 1; n <= 5; n++) ids.push((await stream.next()).id);
    await stream.close();
    for (const [at, id] of ids.slice(0, 4).entries()) {
      for (const more of [{ after: id }, { headers: { "last-event-id": id }, after: "ignored" }]) {
        const resumed = await openEventStream(app, [feed], more);
        expect(await resumed.take(4 - at)).toEqual([1, 2, 3, 4, 5].slice(at + 1));
        await resumed.close();
      }
    }
  });

  it("sends the positions of all feeds as the id of each event, in the order of the request", async () => {
    const app = openApp();
    const feeds = [await issueFeed(app, "a"), await issueFeed(app, "b"), await issueFeed(app, "c")];
    const stream = await openEventStream(app, feeds);
    const seen = [];
    for (const [channel, n] of [
      ["b", 1],
      ["a", 2],
      ["b", 3],
    ] as const) {
      await publish(channel, n);
      seen.push(await stream.next());
    }
    await stream.close();
    expect(seen.map(({ data }) => data)).toEqual([
      ["b", "1"],
      ["a", "2"],
      ["b", "3"],
    ]);
    const [first] = seen;
    const resumed = await openEventStream(app, feeds, { after: first?.id ?? "" });
    const rest = [await resumed.next(), await resumed.next()];
    expect(rest.map(({ data }) => data).sort()).toEqual([
      ["a", "2"],
      ["b", "3"],
    ]);
    await resumed.close();
  });

  it("has headers against buffering by proxies, and starts with the time after which to reconnect", async () => {
    const app = openApp();
    const response = await requestLive(app, "live", [await issueFeed(app, "room:1")]);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("private, no-cache, no-transform");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("x-request-id")).not.toBeNull();
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    const [, ms] = /^retry: (\d+)\n\n$/.exec(new TextDecoder().decode(value)) ?? [];
    expect(Number(ms)).toBeGreaterThanOrEqual(1000);
    expect(Number(ms)).toBeLessThanOrEqual(5000);
    await reader?.cancel();
  });
});

describe("a poll", () => {
  it("returns the messages after the cursor, and the next cursor", async () => {
    const app = openApp();
    const feed = await issueFeed(app, "room:1");
    const first = await poll(app, [feed]);
    expect(first).toMatchObject({ events: [], gaps: [] });
    await publish("room:1", { n: 1 });
    const second = await poll(app, [feed], { after: first.cursor });
    expect(second.events).toEqual([["room:1", { n: 1 }]]);
    expect((await poll(app, [feed], { after: second.cursor })).events).toEqual([]);
  });

  it("waits for a message with the parameter `wait`", async () => {
    const app = openApp();
    const feed = await issueFeed(app, "room:1");
    const waiting = poll(app, [feed], { wait: 25 });
    await publish("room:1", "a message");
    expect((await waiting).events).toEqual([["room:1", "a message"]]);
  });

  it("delivers many messages in several responses, each from the cursor of the previous one", async () => {
    const app = openApp();
    const feed = await issueFeed(app, "room:1");
    const messages = Array.from({ length: 60 }, (_, n) => `${n}${"x".repeat(10_000)}`);
    for (const message of messages) await publish("room:1", message);
    const seen: unknown[] = [];
    let polls = 0;
    for (let after: string | undefined; seen.length < messages.length; polls++) {
      const { events, cursor } = await poll(app, [feed], after === undefined ? {} : { after });
      expect(events.length).toBeGreaterThan(0);
      seen.push(...events.map(([, message]) => message));
      after = cursor;
    }
    expect(seen).toEqual(messages);
    expect(polls).toBeGreaterThan(2);
  });

  it("gets 503 with Retry-After while the bus is unreachable", async () => {
    const bus = createFaultyBus();
    createRealtime({ isBuilt: false }).use_bus(bus);
    const app = openApp();
    const feed = await issueFeed(app, "a");
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    bus.isUnreachable = true;
    const response = await app.fetch(new Request(`http://shop.example/__web/poll?feed=${feed}`));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    bus.isUnreachable = false;
    expect((await poll(app, [feed])).gaps).toEqual([]);
    log.mockRestore();
  });
});

describe("the limits of a client", () => {
  it.each([
    ["polls", ["poll"]],
    ["event streams", ["live"]],
    ["polls and event streams together", ["poll", "live"]],
  ] as const)(
    "are 600 %s in a minute: one more gets 429 with Retry-After and details.retry_after [LIVE-17]",
    async (_, endpoints) => {
      const app = openApp();
      const feed = await issueFeed(app, "room:1");
      const statuses = new Map<number, number>();
      for (let n = 0; n < 601; n++) {
        const { status, body } = await requestLive(app, endpoints[n % endpoints.length] ?? "poll", [feed]);
        await body?.cancel();
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      expect([...statuses]).toEqual([
        [200, 600],
        [429, 1],
      ]);
      const response = await requestLive(app, endpoints[0], [feed]);
      const seconds = response.headers.get("retry-after");
      expect(seconds).toMatch(/^[1-9]\d*$/);
      expect(Number(seconds)).toBeLessThanOrEqual(65);
      expect(await response.json()).toMatchObject({
        error: { code: "rate_limited", details: { retry_after: Number(seconds) } },
      });
    },
  );

  it("are WEB_MAX_STREAMS_PER_CLIENT event streams and waiting polls at the same time", async () => {
    const app = openApp({ WEB_MAX_STREAMS_PER_CLIENT: "2" });
    const feed = await issueFeed(app, "room:1");
    const first = await openEventStream(app, [feed]);
    const waiting = poll(app, [feed], { wait: 25 });
    const rejected = await requestLive(app, "live", [feed]);
    expect(["retry-after", "connection"].map((name) => rejected.headers.get(name))).toEqual(["5", "close"]);
    expect(rejected.status).toBe(429);
    expect(await rejected.json()).toMatchObject({ error: { code: "rate_limited", details: { retry_after: 5 } } });
    await publish("room:1", 1);
    expect((await waiting).events).toEqual([["room:1", 1]]);
    const second = await openEventStream(app, [feed]);
    await first.take(1);
    await first.close();
    await second.take(1);
    await second.close();
  });

  it("deliver to every page of an office with one address: above the limit, a poll waits for at most 10 seconds", async () => {
    const app = openApp({ WEB_MAX_STREAMS_PER_CLIENT: "2" });
    const feed = await issueFeed(app, "room:1");
    const open = [await openEventStream(app, [feed]), await openEventStream(app, [feed])];
    vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
    const unanswered = poll(app, [feed], { wait: 25 });
    for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await unanswered).events).toEqual([]);
    vi.useRealTimers();
    const waiting = poll(app, [feed], { wait: 25 });
    await new Promise(setImmediate);
    await publish("room:1", 1);
    expect((await waiting).events).toEqual([["room:1", 1]]);
    expect((await requestLive(app, "live", [feed])).status).toBe(429);
    for (const stream of open) {
      await stream.take(1);
      await stream.close();
    }
  });
});

const [FIRST, SECOND, THIRD] = ["0mwscmxpswka0", "0mwscmxpswkak", "0mwscmxpt0000"] as const;

test("the connections of pages of earlier builds are counted until they end", () => {
  const connections = new ConnectionsByBuild();
  const ends = [FIRST, SECOND, SECOND, THIRD].map((build) => connections.add(build));
  expect([FIRST, SECOND, THIRD].map((build) => connections.before(build))).toEqual([0, 1, 3]);
  for (const end of ends.slice(0, 2)) end();
  expect([FIRST, SECOND, THIRD].map((build) => connections.before(build))).toEqual([0, 0, 1]);
  for (const end of ends.slice(2)) end();
  expect(connections.before("zzzzzzzzzzzzz")).toBe(0);
});

test.each([null, "", "undefined", "0", `${FIRST}.abc-_1`])("a connection with the build %j is not counted", (build) => {
  const connections = new ConnectionsByBuild();
  connections.add(build)();
  connections.add(build);
  expect(connections.before("zzzzzzzzzzzzz")).toBe(0);
});

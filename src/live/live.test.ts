import { afterEach, describe, expect, it } from "vitest";
import { appOf } from "#test/compiled";
import { ask, feedOf, listen, listening, poll } from "#test/listener";
import type { App } from "../app.ts";
import { publish } from "./index.ts";

const apps: App[] = [];
function open(env: Record<string, string> = {}): App {
  const app = appOf(listening, { rate: false, env: { WEB_AUTH_SECRET: "5a".repeat(32), ...env } });
  apps.push(app);
  return app;
}

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

describe("a stream", () => {
  it("gives what was published after the feed was issued, in order, before and after it opened", async () => {
    const app = open();
    await publish("room:1", "before the feed");
    const feed = await feedOf(app, "room:1");
    await publish("room:1", { n: 1 });
    const page = await listen(app, [feed]);
    await publish("room:2", "elsewhere");
    await publish("room:1", { n: 2 });
    await publish("room:1", { n: 3 });
    expect(await page.take(3)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await page.close();
  });

  it("resumes after any event, by the address or by the browser's header", async () => {
    const app = open();
    const feed = await feedOf(app, "room:1");
    for (let n = 1; n <= 5; n++) await publish("room:1", n);
    const page = await listen(app, [feed]);
    const ids = [];
    for (let n = 1; n <= 5; n++) ids.push((await page.next()).id);
    await page.close();
    for (const [at, id] of ids.slice(0, 4).entries()) {
      for (const more of [{ after: id }, { headers: { "last-event-id": id }, after: "of before" }]) {
        const again = await listen(app, [feed], more);
        expect(await again.take(4 - at)).toEqual([1, 2, 3, 4, 5].slice(at + 1));
        await again.close();
      }
    }
  });

  it("carries the positions of all feeds, in the order of the address", async () => {
    const app = open();
    const feeds = [await feedOf(app, "a"), await feedOf(app, "b"), await feedOf(app, "c")];
    const page = await listen(app, feeds);
    const seen = [];
    for (const [channel, n] of [
      ["b", 1],
      ["a", 2],
      ["b", 3],
    ] as const) {
      await publish(channel, n);
      seen.push(await page.next());
    }
    await page.close();
    expect(seen.map(({ data }) => data)).toEqual([
      ["b", "1"],
      ["a", "2"],
      ["b", "3"],
    ]);
    const [first] = seen;
    const again = await listen(app, feeds, { after: first?.id ?? "" });
    const rest = [await again.next(), await again.next()];
    expect(rest.map(({ data }) => data).sort()).toEqual([
      ["a", "2"],
      ["b", "3"],
    ]);
    await again.close();
  });

  it("has the headers that keep proxies from holding it back, and says when to come back", async () => {
    const app = open();
    const response = await ask(app, "live", [await feedOf(app, "room:1")]);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("private, no-store, no-transform");
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
  it("gives what has come, and a cursor to go on from", async () => {
    const app = open();
    const feed = await feedOf(app, "room:1");
    const first = await poll(app, [feed]);
    expect(first).toMatchObject({ events: [], gaps: [] });
    await publish("room:1", { n: 1 });
    const second = await poll(app, [feed], { after: first.cursor });
    expect(second.events).toEqual([["room:1", { n: 1 }]]);
    expect((await poll(app, [feed], { after: second.cursor })).events).toEqual([]);
  });

  it("waits until something comes", async () => {
    const app = open();
    const feed = await feedOf(app, "room:1");
    const waiting = poll(app, [feed], { wait: 25 });
    await publish("room:1", "at last");
    expect((await waiting).events).toEqual([["room:1", "at last"]]);
  });
});

describe("what a client may ask", () => {
  it("is 600 polls in a minute, and one more waits", async () => {
    const app = open();
    const feed = await feedOf(app, "room:1");
    const statuses = new Map<number, number>();
    for (let n = 0; n < 601; n++) {
      const { status } = await ask(app, "poll", [feed]);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses]).toEqual([
      [200, 600],
      [429, 1],
    ]);
    const { headers } = await ask(app, "poll", [feed]);
    expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(61); // 60.1 seconds, where all were made as a window began
  });

  it("is as many streams as the configuration says, polls that wait among them", async () => {
    const app = open({ WEB_MAX_STREAMS_PER_CLIENT: "2" });
    const feed = await feedOf(app, "room:1");
    const first = await listen(app, [feed]);
    const second = await listen(app, [feed]);
    expect((await ask(app, "live", [feed])).status).toBe(429);
    expect((await ask(app, "poll", [feed])).status).toBe(429);
    // A stream says how long to wait before it comes back: it is read, so that it can be left.
    await publish("room:1", 1);
    await first.take(1);
    await first.close();
    expect((await poll(app, [feed])).events).toEqual([["room:1", 1]]);
    await second.close();
  });

  it("is told in pieces where it is much: each poll goes on from the last", async () => {
    const app = open();
    const feed = await feedOf(app, "room:1");
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
});

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createTestApp } from "#test/compiled-app";
import { issueFeed, liveFunctions, openEventStream, requestLive } from "#test/live-client";
import type { App } from "../app.ts";
import { publish } from "./index.ts";

let app: App;
beforeEach(() => {
  app = createTestApp(liveFunctions, { rate: false });
});
afterEach(async () => {
  vi.useRealTimers();
  await app.close();
});

/** Opens an event stream, and records the time of its end. */
async function openStream(feed: string, endsMs: number[]): Promise<void> {
  const { body } = await requestLive(app, "live", [feed]);
  void body?.pipeTo(new WritableStream()).then(() => endsMs.push(performance.now()));
}

it("ends event streams at random moments within the time, also those that were opened during it", async () => {
  const feed = await issueFeed(app, "room");
  vi.useFakeTimers();
  const endsMs: number[] = [];
  for (let n = 0; n < 40; n++) await openStream(feed, endsMs);
  const startedAtMs = performance.now();
  app.drain(2);
  await vi.advanceTimersByTimeAsync(1_000);
  const early = endsMs.length;
  expect(early).toBeGreaterThan(5);
  expect(early).toBeLessThan(35);
  await openStream(feed, endsMs);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(endsMs).toHaveLength(41);
  expect(Math.max(...endsMs) - startedAtMs).toBeLessThanOrEqual(2_000);
  expect(new Set(endsMs).size).toBeGreaterThan(20); // not all at once
});

it("delivers messages until a stream ends, and answers waiting polls", async () => {
  const feed = await issueFeed(app, "room");
  const stream = await openEventStream(app, [feed]);
  const waiting = requestLive(app, "poll", [feed], { wait: 25 });
  app.drain(600);
  await publish("room", "during the drain");
  expect(await stream.take(1)).toEqual(["during the drain"]);
  expect((await (await waiting).json()).events).toEqual([["room", "during the drain"]]);
  await stream.close();
});

it("answers requests after the time, and ends their responses at once", async () => {
  const feed = await issueFeed(app, "room");
  app.drain();
  await publish("room", "after the drain");
  const { status, body } = await requestLive(app, "live", [feed]);
  expect([status, await new Response(body).text()]).toEqual([200, expect.stringMatching(/^retry: \d+\n\n/)]);
  const answer = await requestLive(app, "poll", [feed], { wait: 25 });
  expect((await answer.json()).events).toEqual([["room", "after the drain"]]);
});

it("ends event streams at once without a time", async () => {
  const feed = await issueFeed(app, "room");
  const { body } = await requestLive(app, "live", [feed]);
  app.drain();
  await body?.pipeTo(new WritableStream());
});

it.each(["live", "poll"] as const)("refuses a request of %s after the application was closed", async (endpoint) => {
  const feed = await issueFeed(app, "room");
  await app.close();
  const refused = await requestLive(app, endpoint, [feed]);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
});

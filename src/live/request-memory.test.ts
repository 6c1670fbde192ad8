import { afterEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledQuery, compiledServer, createTestApp } from "#test/compiled-app";
import { issueFeed, liveFunctions, postLive } from "#test/live-client";
import type { App } from "../app.ts";
import { RPCError } from "../errors.ts";
import type { LiveHandle } from "../protocol/index.ts";
import { maxMemory, memoryOf, RequestMemory } from "./request-memory.ts";

const KIB = 1024;
const texts = (count: number, chars: number) => Array.from({ length: count }, () => "x".repeat(chars));
const requestOf = (feeds: number, tokens: readonly string[], queries: readonly string[]) => ({
  readers: Array.from({ length: feeds }) as never[], // only their number counts
  tokens,
  queries,
});

describe("the memory of a live request", () => {
  it("counts 2 KiB for each feed, token and query, and the characters of tokens and queries", () => {
    expect(memoryOf(requestOf(0, [], []))).toBe(0);
    expect(memoryOf(requestOf(3, [], []))).toBe(3 * 2 * KIB);
    expect(memoryOf(requestOf(1, texts(2, 1_000), texts(3, 300)))).toBe(6 * 2 * KIB + 2_900);
  });

  it("may be 320 KiB for each connection that a client may have, and that of two of the largest requests at least", () => {
    expect(maxMemory(100)).toBe(100 * 320 * KIB);
    expect(maxMemory(1)).toBe(4_096 * KIB);
    expect(2 * memoryOf(requestOf(256, texts(256, 1_024), texts(256, 1_024)))).toBeLessThanOrEqual(maxMemory(1));
  });

  it("is that of one client, or of an IPv6 network, until each request has ended", () => {
    const memory = new RequestMemory(1);
    const request = requestOf(256, [], []);
    const releases = Array.from({ length: 8 }, () => memory.take("2001:db8::1", request)); // 4 MiB
    const refused = (address: string) => {
      try {
        memory.take(address, requestOf(1, [], []))();
        return null;
      } catch (error) {
        return error instanceof RPCError && [error.code, error.details.retry_after];
      }
    };
    expect([refused("2001:db8::2"), refused("2001:db8:1::1")]).toEqual([["rate_limited", 5], null]);
    releases[0]?.();
    expect(refused("2001:db8::2")).toBeNull();
  });
});

describe("the open requests of a client", () => {
  const items = compiledQuery("items", { on: (id: string) => [`items:${id}`] }, (id: string) => [{ id }], {
    params: { id: "any" },
  });
  const open_items = compiledServer("open_items", (id: string) => items.live(id), { params: { id: "any" } });
  let app: App;
  afterEach(async () => {
    vi.useRealTimers();
    await app.close();
  });

  async function issueQuery(id: string): Promise<string> {
    const { result } = await (await callOverHttp(app, "open_items", { id })).json();
    const { query, v } = result as LiveHandle<unknown> & { query: string; v: string };
    return `${query}~${v}`;
  }

  it("with many queries are refused with 429 when they use too much memory, also polls, and not once some have ended [LIVE-53]", async () => {
    app = createTestApp(
      { ...liveFunctions, items, open_items },
      { rate: false, env: { WEB_MAX_STREAMS_PER_CLIENT: "1" } },
    );
    const queries = Array.from({ length: 256 }, () => "");
    queries.fill(await issueQuery("1"));
    vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
    const polls = Array.from({ length: 20 }, () => postLive(app, "poll", { queries, wait: 25 }));
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
    const refused = await postLive(app, "poll", { queries });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
    expect(await refused.json()).toMatchObject({ error: { code: "rate_limited", details: { retry_after: 5 } } });
    expect((await postLive(app, "live", { queries })).status).toBe(429);
    await vi.advanceTimersByTimeAsync(25_000);
    const statuses = (await Promise.all(polls)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    vi.useRealTimers();
    expect((await postLive(app, "poll", { queries })).status).toBe(200);
  });

  it("do not keep memory after they have ended, and after they were refused for other reasons", async () => {
    app = createTestApp(liveFunctions, { rate: false, env: { WEB_MAX_STREAMS_PER_CLIENT: "1" } });
    const feeds = await Promise.all(Array.from({ length: 256 }, (_, n) => issueFeed(app, `room:${n}`)));
    for (let n = 0; n < 10; n++) {
      const stream = await postLive(app, "live", { feeds });
      expect(stream.status).toBe(200);
      expect((await postLive(app, "live", { feeds })).status).toBe(429); // a second event stream
      expect((await postLive(app, "poll", { feeds })).status).toBe(200);
      await stream.body?.cancel();
    }
  });
});

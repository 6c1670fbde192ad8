/** Every protection of event streams and polls, as the table "Protections by kind" in docs/security.md lists them. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createTestApp } from "#test/compiled-app";
import { issueFeed, liveFunctions, requestLive } from "#test/live-client";
import type { App } from "../app.ts";

const MIB = 1024 * 1024;
const ENV = { WEB_AUTH_SECRET: "5a".repeat(32) };

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe.each([
  ["GET", "live"],
  ["GET", "poll"],
  ["POST", "live"],
  ["POST", "poll"],
] as const)("a %s request of /__web/%s", (method, endpoint) => {
  const OTHER_ORIGINS = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
  ];
  const OWN_ORIGINS = [
    {},
    { origin: "http://shop.example" },
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
  ];
  const apps: App[] = [];
  const createApp = () => {
    const app = createTestApp(liveFunctions, { env: { ...ENV, WEB_MAX_STREAMS_PER_CLIENT: "2" } });
    apps.push(app);
    return app;
  };
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
  });

  it.each(OTHER_ORIGINS)("is rejected from another origin: %j", async (headers) => {
    const app = createApp();
    const response = await requestLive(app, endpoint, [await issueFeed(app, "room")], { method, headers });
    expect(response.status).toBe(403);
    expect(response.headers.get("connection")).toBe("close");
    expect(await response.text()).toBe("Subscriptions from another site are not allowed.\n");
  });

  it.each(OWN_ORIGINS)("is accepted from this origin: %j", async (headers) => {
    const app = createApp();
    const response = await requestLive(app, endpoint, [await issueFeed(app, "room")], { method, headers });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  it("does not count towards the rate if it comes from another origin, so that other sites cannot use it up [SITE-7]", async () => {
    const app = createApp();
    for (let i = 0; i < 700; i++) {
      const headers = OTHER_ORIGINS[i % OTHER_ORIGINS.length] ?? {};
      expect((await requestLive(app, endpoint, [], { method, headers })).status).toBe(403);
    }
    expect((await requestLive(app, endpoint, [], { method })).status).toBe(400);
  });

  it("is rejected above the rate of its client, at the rate not", async () => {
    const app = createApp();
    vi.useFakeTimers({ toFake: ["Date", "performance"] }); // the 600 requests take no time
    for (let i = 0; i < 600; i++) expect((await requestLive(app, endpoint, [], { method })).status).toBe(400);
    const response = await requestLive(app, endpoint, [], { method });
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toMatch(/^6[0-5]$/);
  });

  it.each(["HEAD", "PUT", "DELETE", "OPTIONS"])("is rejected with the method %s", async (method) => {
    const app = createApp();
    const response = await requestLive(app, endpoint, [await issueFeed(app, "room")], { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, POST");
  });

  it("is rejected with a declared body over 1 MiB", async () => {
    const headers = { "content-length": String(MIB + 1) };
    expect((await requestLive(createApp(), endpoint, [], { method, headers })).status).toBe(413);
  });

  it("is refused, or answered within 10 seconds, if its client has as many connections open as the limit [REQUEST-61]", async () => {
    const app = createApp();
    const feed = await issueFeed(app, "room");
    const open = [await requestLive(app, "live", [feed]), await requestLive(app, "live", [feed], { method })];
    vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
    const response = requestLive(app, endpoint, [feed], { method, ...(endpoint === "poll" ? { wait: 25 } : {}) });
    for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(endpoint === "live" ? 0 : 10_000);
    expect((await response).status).toBe(endpoint === "live" ? 429 : 200);
    vi.useRealTimers();
    for (const response of open) await response.body?.cancel();
  });
});

import { afterEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledPage, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import { createFaultyBus } from "#test/faulty-bus";
import { recordedLog } from "#test/recorded-log";
import type { App, AppOptions } from "../app.ts";
import { channel, publish } from "../live/index.ts";
import { realtime } from "./site.ts";

const MODULE = { ping: compiledServer("ping", () => null) };

const apps: App[] = [];
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const app of apps.splice(0)) await app.close();
});

const status = async (app: App, path: string) => {
  const response = await getPage(app, path);
  return [response.status, await response.json()];
};

describe("/healthz", () => {
  it("is 503 while the event loop is 5 seconds late, and 200 before and after", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    const app = createTestApp(MODULE);
    apps.push(app);
    const ok = [200, { status: "ok" }];
    expect(await status(app, "/healthz")).toEqual(ok);
    vi.advanceTimersByTime(3_000);
    const now = performance.now();
    const clock = vi.spyOn(performance, "now");
    clock.mockReturnValue(now + 5_099); // the next timer is due after 100 ms
    expect(await status(app, "/healthz")).toEqual(ok);
    clock.mockReturnValue(now + 5_100);
    const hanging = [503, { status: "hanging", event_loop_delay_ms: 5_000 }];
    expect(await status(app, "/healthz")).toEqual(hanging);
    vi.advanceTimersToNextTimer(); // the late timer fires: the delay was measured, and the loop may be late again
    expect(await status(app, "/healthz")).toEqual(hanging);
    clock.mockReturnValue(now + 7_000);
    vi.advanceTimersToNextTimer();
    expect(await status(app, "/healthz")).toEqual(ok);
  });

  it("measures nothing before it is requested, and ends with the application", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const app = createTestApp(MODULE);
    expect(vi.getTimerCount()).toBe(0);
    await getPage(app, "/healthz");
    expect(vi.getTimerCount()).toBe(1);
    await app.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("/readyz", () => {
  it("is 503 from the beginning of the start to its end, and 200 if the host does not call start", async () => {
    const bus = createFaultyBus();
    realtime.use_bus({ ...bus, identify() {}, position: bus.position });
    bus.isHanging = true;
    const app = createTestApp(MODULE);
    apps.push(app);
    expect(await status(app, "/readyz")).toEqual([200, { ready: true, bus: "unknown" }]);
    const starting = app.start();
    expect(await status(app, "/readyz")).toEqual([503, { ready: false, bus: "unknown" }]);
    bus.isHanging = false;
    await starting;
    expect(await status(app, "/readyz")).toEqual([200, { ready: true, bus: "unknown" }]);
  });

  it("reports a bus that is unreachable, and stays 200", async () => {
    const bus = Object.assign(createFaultyBus(), { isReachable: true });
    const app = createTestApp(MODULE);
    apps.push(app);
    expect(await status(app, "/readyz")).toEqual([200, { ready: true }]); // in memory
    realtime.use_bus(bus);
    expect(await status(app, "/readyz")).toEqual([200, { ready: true, bus: "reachable" }]);
    bus.isReachable = false;
    expect(await status(app, "/readyz")).toEqual([200, { ready: true, bus: "unreachable" }]);
    app.drain();
    expect(await status(app, "/readyz")).toEqual([503, { ready: false, bus: "unreachable" }]);
  });
});

describe("while the bus is unreachable", () => {
  function unreachableApp(options: Partial<AppOptions> = {}) {
    const bus = createFaultyBus();
    bus.isUnreachable = true;
    realtime.use_bus(bus);
    const { log, lines } = recordedLog();
    const app = createTestApp(
      {
        room: compiledPage("/room", async () => String(await channel("room"))),
        save: compiledServer("save", () => publish("room", 1)),
        feed: compiledServer("feed", () => channel("room")),
        nothing: compiledServer("nothing", () => null),
      },
      { log, ...options },
    );
    apps.push(app);
    return { app, bus, lines };
  }

  it("pages whose feed cannot be issued are 503 with Retry-After, and one line a minute", async () => {
    const { app, bus, lines } = unreachableApp();
    for (let times = 0; times < 5; times++) {
      const response = await getPage(app, "/room");
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
      expect(await response.text()).toContain("not available at the moment");
    }
    expect(lines).toMatchObject([
      {
        level: "warn",
        fields: { reason: "bus", refused: 1 },
        message: "No feed can be issued: The bus is unreachable.",
      },
    ]);
    bus.isUnreachable = false;
    expect((await getPage(app, "/room")).status).toBe(200);
  });

  it("a page after a form, a call that issues a feed, and a call that publishes have no Retry-After", async () => {
    const { app } = unreachableApp();
    const headers = { "content-type": "application/x-www-form-urlencoded", origin: "http://shop.example" };
    const form = await getPage(app, "/room?__form=nothing", { method: "POST", body: "a=b", headers });
    expect(form.status).toBe(303);
    const refused = await getPage(app, "/room?__form=save", { method: "POST", body: "a=b", headers });
    const feed = await callOverHttp(app, "feed");
    const save = await callOverHttp(app, "save");
    expect([refused.status, feed.status, save.status]).toEqual([503, 503, 500]);
    for (const response of [refused, feed, save]) expect(response.headers.get("retry-after")).toBeNull();
  });

  it("the layout of the application may need a feed too: the response is the plain error page with 503", async () => {
    const { app, lines } = unreachableApp({
      layout: async ({ children }) => [await channel("room"), children] as never,
    });
    const response = await getPage(app, "/room");
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(lines.map(({ level }) => level)).toEqual(["warn"]);
  });
});

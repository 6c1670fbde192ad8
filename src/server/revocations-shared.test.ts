/** `session.revoke` in several processes: applications that share a bus, and that can be cut off from it. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp } from "#test/compiled-app";
import { SECRET } from "#test/environment";
import { issueFeed, openEventStream, poll } from "#test/live-client";
import { recordedLog } from "#test/recorded-log";
import {
  call,
  cancelledBodies,
  createRevocableApp,
  createSharedBus,
  enter,
  KINDS,
  type SharedBus,
} from "#test/revocable-app";
import { readerOf, textOf } from "#test/streaming-app";
import type { App } from "../app.ts";
import { realtime } from "./site.ts";

const apps: App[] = [];
let bus: SharedBus;
let logged: string[] = [];

beforeEach(() => {
  logged = [];
  vi.spyOn(console, "error").mockImplementation((line) => void logged.push(String(line)));
  bus = createSharedBus();
  realtime.use_bus(bus);
});
afterEach(async () => {
  vi.useRealTimers();
  for (const app of apps.splice(0)) await app.close();
  vi.restoreAllMocks();
});

async function start(): Promise<App> {
  const app = createRevocableApp();
  apps.push(app);
  await app.start();
  return app;
}

const readiness = async (app: App) => (await app.fetch(new Request("http://shop.example/readyz"))).status;

describe("a revocation in one process", () => {
  it("is known to the others when it resolves, or soon after, and ends what is open there [SESSION-17]", async () => {
    const [one, other] = [await start(), await start()];
    const cookie = await enter(one, "ada");
    const feed = await issueFeed(other, "room", { cookie });
    const events = await openEventStream(other, [feed], { headers: { cookie } });
    const stream = readerOf(await callOverHttp(other, "stream", {}, { headers: { cookie } }));
    expect(textOf(await stream.read())).toContain("ada");
    await one.revoke("ada");
    await expect.poll(() => call(other, "who", {}, cookie)).toBe("nobody");
    expect(textOf(await stream.read())).toContain("unauthenticated");
    await expect(events.take(1)).rejects.toThrow("The event stream has ended.");
  });

  it("ends a poll that waits for the bus, which then delivers nothing of after that [SESSION-22]", async () => {
    const app = await start();
    const headers = { cookie: await enter(app, "ada") };
    const feed = await issueFeed(app, "room", headers);
    const read = bus.read.bind(bus);
    let resume: () => void = () => {};
    bus.read = async (...input) => {
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
      return read(...input);
    };
    const polled = poll(app, [feed], { headers, wait: 25 });
    await app.revoke("ada");
    await app.publish("room", "after");
    resume();
    expect((await polled).events).toEqual([]);
  });

  it("that the first request of a process waits for counts as one of before it: channel() signs the client out", async () => {
    const one = await start();
    const cookie = await enter(one, "ada");
    await one.revoke("ada");
    const other = createRevocableApp();
    apps.push(other);
    expect(await issueFeed(other, "room", { cookie })).toEqual(expect.any(String));
  });

  it("refuses sessions that another process issued before, and accepts those after it, in every process", async () => {
    const [one, other] = [await start(), await start()];
    const before = await enter(other, "ada");
    await one.revoke("ada");
    const after = await enter(one, "ada");
    for (const app of [one, other, await start()]) {
      await expect.poll(() => call(app, "who", {}, before)).toBe("nobody");
      await expect.poll(() => call(app, "who", {}, after)).toBe("ada");
    }
  });

  it("is known to a process that starts later", async () => {
    const one = await start();
    const cookie = await enter(one, "ada");
    await one.revoke("ada");
    expect(await call(await start(), "who", {}, cookie)).toBe("nobody");
  });

  it("is found without a notification, when a process meets a session that is ahead of it", async () => {
    const [one, other] = [await start(), await start()];
    const cookie = await enter(one, "ada");
    bus.suppressesNotifications = true;
    await one.revoke("ada");
    expect(await call(other, "who", {}, cookie)).toBe("ada");
    await call(other, "who", {}, await enter(one, "bob"));
    await expect.poll(() => call(other, "who", {}, cookie)).toBe("nobody");
  });

  it("is found without a notification within 60 seconds", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const [one, other] = [await start(), await start()];
    const cookie = await enter(one, "ada");
    bus.suppressesNotifications = true;
    await one.revoke("ada");
    expect(await call(other, "who", {}, cookie)).toBe("ada");
    await vi.advanceTimersByTimeAsync(60_000);
    await expect.poll(() => call(other, "who", {}, cookie)).toBe("nobody");
  });

  it("rejects if the store cannot be reached, and then nobody is signed out", async () => {
    const app = await start();
    const cookie = await enter(app, "ada");
    bus.isStoreUnreachable = true;
    await expect(app.revoke("ada")).rejects.toThrow("The server is unreachable.");
    bus.isStoreUnreachable = false;
    expect(await call(await start(), "who", {}, cookie)).toBe("ada");
  });

  it("rejects if the others were not notified, with a message that says what holds", async () => {
    const app = await start();
    const cookie = await enter(app, "ada");
    bus.isUnreachable = true;
    await expect(app.revoke("ada")).rejects.toThrow("the revocation is stored, but other processes may not have been");
    expect(await call(app, "who", {}, cookie)).toBe("nobody");
    expect(await call(await start(), "who", {}, cookie)).toBe("nobody");
  });
});

describe("several workers whose bus stores no revocations", () => {
  it("cannot revoke without WEB_DATA_DIR, also in development: the others would not know it", async () => {
    const { revocations: _store, ...withoutStore } = createSharedBus();
    realtime.use_bus(withoutStore);
    const app = createRevocableApp({ env: { WEB_WORKERS: "2" } });
    apps.push(app);
    const cookie = await enter(app, "ada");
    await expect(app.revoke("ada")).rejects.toThrow("neither WEB_BUS_URL nor WEB_DATA_DIR is set");
    expect(await call(app, "who", {}, cookie)).toBe("ada");
  });
});

describe("a process that has not read the revocations yet", () => {
  it("is not ready, answers what reads a session with 503 and keeps its cookie, and serves signed-out clients [SESSION-27]", async () => {
    const cookie = await enter(await start(), "ada");
    bus.isStoreUnreachable = true;
    // With one stream for a client, a stream that was refused and still counted would refuse the next one.
    const app = createRevocableApp({ env: { WEB_AUTH_SECRET: "5a".repeat(32), WEB_MAX_STREAMS_PER_CLIENT: "1" } });
    apps.push(app);
    await app.start();
    expect(await readiness(app)).toBe(503);
    for (const [kind, send] of Object.entries(KINDS)) {
      const response = await send(app, cookie);
      expect([kind, response.status, response.headers.get("retry-after"), response.headers.get("set-cookie")]).toEqual([
        kind,
        503,
        "2",
        null,
      ]);
      expect(await response.text()).toContain("Sessions cannot be checked yet");
      if (kind === "route that catches every error") expect(cancelledBodies).toBe(1); // a file may be behind it
      const signedOut = await send(app, "");
      expect([kind, signedOut.status]).toEqual([kind, 200]);
      await signedOut.body?.cancel();
    }
    expect((await callOverHttp(app, "enter", { user: "bob" })).status).toBe(503);
    const failures = logged.filter((line) => line.startsWith("The revocation log"));
    expect(failures).toEqual([
      expect.stringMatching(/^The revocation log cannot be read; retrying\. Requests of signed-in/),
    ]);
    bus.isStoreUnreachable = false;
    await expect.poll(() => readiness(app)).toBe(200);
    expect(await call(app, "who", {}, cookie)).toBe("ada");
  });

  it.each([
    ["production", 10_000],
    ["development", 1_000],
  ])("waits for them at its start in %s for %d ms, and then starts without them", async (WEB_ENV, maxMs) => {
    vi.useFakeTimers();
    bus.isStoreUnreachable = true;
    const app = createRevocableApp({ env: { WEB_ENV, WEB_AUTH_SECRET: SECRET }, log: recordedLog().log });
    apps.push(app);
    let hasStarted = false;
    const starting = app.start().then(() => {
      hasStarted = true;
    });
    await vi.advanceTimersByTimeAsync(maxMs - 1);
    expect(hasStarted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await starting;
    vi.useRealTimers();
    expect(await readiness(app)).toBe(503);
    bus.isStoreUnreachable = false;
    await expect.poll(() => readiness(app)).toBe(200);
  });

  it("reads them before the first request if nobody has started the application", async () => {
    const one = await start();
    const cookie = await enter(one, "ada");
    await one.revoke("ada");
    const app = createRevocableApp();
    apps.push(app);
    expect(await call(app, "who", {}, cookie)).toBe("nobody");
  });
});

describe("a process that is cut off later", () => {
  it("goes on with what it has read, stays ready, and continues when the store can be reached again", async () => {
    const [one, other] = [await start(), await start()];
    const [ada, bob] = [await enter(one, "ada"), await enter(one, "bob")];
    await one.revoke("ada");
    await expect.poll(() => call(other, "who", {}, ada)).toBe("nobody");
    bus.isStoreUnreachable = true;
    expect(await readiness(other)).toBe(200);
    expect([await call(other, "who", {}, ada), await call(other, "who", {}, bob)]).toEqual(["nobody", "bob"]);
    expect(await call(other, "who", {}, await enter(other, "carol"))).toBe("carol");
    bus.isStoreUnreachable = false;
    await one.revoke("bob");
    await expect.poll(() => call(other, "who", {}, bob)).toBe("nobody");
  });
});

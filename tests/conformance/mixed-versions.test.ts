/**
 * Live updates during a rolling deployment: a page of the version before POST and positions in pings, on processes of today, and a
 * page of today on processes of that version. @see docs/protocol.md 10.10
 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createTestApp } from "#test/compiled-app";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { issueFeed, liveFunctions } from "#test/live-client";
import type { App } from "../../src/app.ts";
import { createRealtime, publish } from "../../src/live/index.ts";

type Subscribe = (feed: string, handler: (message: unknown) => void, options?: object) => () => void;
type Send = (url: string, init: RequestInit) => Promise<Response>;

const ORIGIN = "http://shop.example";
const PREVIOUS_PAGE = new URL("fixtures/previous-page/live.js", import.meta.url).href;

/** A page tries an event stream twice before it polls. */
const SLOWLY = { timeout: 10_000 };

let app: App;
let bus: FaultyBus;
/** The requests of the page, as `METHOD /path`. */
let requests: string[];
/** The ids of pings that the page was sent. */
let pingIds: string[];
/** Whether the process behind the proxy is of the earlier version. */
let isOldProcess: boolean;
let connections: AbortController[];
let emit: (type: string) => void;
let errors: unknown[];

beforeEach(async () => {
  bus = createFaultyBus();
  createRealtime({ isBuilt: false }).use_bus(bus);
  app = createTestApp(liveFunctions, { rate: false, env: { WEB_AUTH_SECRET: "5a".repeat(32) } });
  requests = [];
  pingIds = [];
  connections = [];
  errors = [];
  isOldProcess = false;
  stubPage();
  // The interval of the hub, and the clock of its connections. Those of the page are real.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});

afterEach(async () => {
  emit("pagehide");
  vi.useRealTimers();
  await app.close();
  vi.unstubAllGlobals();
  expect(errors).toEqual([]);
});

/** The globals of a page that the code of both versions uses. */
function stubPage(): void {
  const target = new EventTarget();
  const addEventListener = target.addEventListener.bind(target);
  emit = (type) => void target.dispatchEvent(new Event(type));
  vi.stubGlobal("addEventListener", addEventListener);
  vi.stubGlobal("document", {
    addEventListener,
    hidden: false,
    querySelector: (selector: string) =>
      selector === "script#tsweb" ? { textContent: JSON.stringify({ base: "", views: [] }) } : null,
  });
  vi.stubGlobal("navigator", {}); // without locks: no tabs share the connection
  vi.stubGlobal("reportError", (error: unknown) => errors.push(error));
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => (isOldProcess ? sendToOldProcess : send)(url, init));
}

/** Sends a request to the application, through a connection that {@link breakConnections} ends. */
const send: Send = async (url, init) => {
  const { method = "GET" } = init;
  requests.push(`${method} ${url.split("?")[0]}`);
  const connection = new AbortController();
  connections.push(connection);
  const signal = AbortSignal.any([connection.signal, ...(init.signal ? [init.signal] : [])]);
  const response = await app.fetch(new Request(ORIGIN + url, { ...init, signal }));
  if (!response.body || response.headers.get("content-type") !== "text/event-stream") return response;
  const note = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const text = new TextDecoder().decode(chunk);
      for (const [, id = ""] of text.matchAll(/^id: (.*)\nevent: ping$/gm)) pingIds.push(id);
      controller.enqueue(
        isOldProcess ? new TextEncoder().encode(text.replace(/^id: .*\n(?=event: ping)/gm, "")) : chunk,
      );
    },
  });
  const body = response.body.pipeThrough(note, { signal });
  return new Response(body, { status: response.status, headers: response.headers });
};

/** As a process of the earlier version: GET only, and no positions in pings. */
const sendToOldProcess: Send = async (url, init) => {
  if (init.method === undefined || init.method === "GET") return send(url, init);
  requests.push(`${init.method} ${url}`);
  return new Response("This URL allows GET.\n", { status: 405, headers: { allow: "GET" } });
};

/** Ends all connections, as when a process is replaced, and lets the page reconnect at once. */
function breakConnections(): void {
  for (const connection of connections.splice(0)) connection.abort();
  emit("online");
}

async function subscribeAll(subscribe: Subscribe, channels: readonly string[]): Promise<Map<string, unknown[]>> {
  const received = new Map<string, unknown[]>();
  for (const channel of channels) {
    const messages: unknown[] = [];
    received.set(channel, messages);
    const gap = (reason: string) => messages.push(`gap ${reason}`);
    subscribe(await issueFeed(app, channel), (message) => messages.push(message), { gap });
  }
  return received;
}

const lastRequest = () => requests.at(-1);

describe("a page of the version before", () => {
  it("receives everything once and in order from a process of today, whose pings have positions", async () => {
    const { subscribe } = (await import(PREVIOUS_PAGE)) as { subscribe: Subscribe };
    const received = await subscribeAll(subscribe, ["room:1", "room:2", "quiet"]);
    await expect.poll(() => requests).toEqual(["GET /__web/live"]);
    const sent: number[] = [];
    for (let n = 0; n < 30; n++) {
      sent.push(n);
      await publish("room:1", n);
      await publish("room:2", n + 1_000);
      if (n % 10 === 4) {
        await expect.poll(() => received.get("room:1")?.length).toBe(n + 1);
        for (const channel of received.keys()) await bus.notifyProgress(channel);
        const before = pingIds.length;
        const pinged = () => {
          vi.advanceTimersByTime(1_000); // the interval of the hub
          return pingIds.length;
        };
        await expect.poll(pinged, { interval: 5 }).toBeGreaterThan(before);
      }
      if (n % 10 === 7) breakConnections();
    }
    await expect.poll(() => received.get("room:1")).toEqual(sent);
    await expect.poll(() => received.get("room:2")).toEqual(sent.map((n) => n + 1_000));
    expect(received.get("quiet")).toEqual([]);
    // The page takes the positions of pings: it resumes the quiet channel from there, and not from that of its feed.
    expect(pingIds.every((id) => id.split(",").length === 3)).toBe(true);
    await publish("quiet", "at last");
    await expect.poll(() => received.get("quiet")).toEqual(["at last"]);
    expect(new Set(requests)).toEqual(new Set(["GET /__web/live"]));
  });
});

describe("a page of today", () => {
  it("polls a process of the version before by GET, has an event stream by POST on one of today, and misses nothing", async () => {
    isOldProcess = true;
    const { subscribe } = (await import("../../src/browser/subscribe.ts")) as unknown as { subscribe: Subscribe }; // with untyped feeds
    const received = await subscribeAll(subscribe, ["room:3", "room:4"]);
    await expect.poll(lastRequest, SLOWLY).toBe("GET /__web/poll");
    expect(requests).toEqual(["POST /__web/live", "POST /__web/live", "POST /__web/poll", "GET /__web/poll"]);
    const sent: number[] = [];
    for (let n = 0; n < 40; n++) {
      sent.push(n);
      await publish("room:3", n);
      await publish("room:4", n + 1_000);
      if (n % 10 === 3) await expect.poll(() => received.get("room:4")?.length, SLOWLY).toBe(n + 1);
      if (n % 10 === 6) {
        isOldProcess = !isOldProcess;
        breakConnections();
      }
    }
    await expect.poll(() => received.get("room:3"), SLOWLY).toEqual(sent);
    await expect.poll(() => received.get("room:4"), SLOWLY).toEqual(sent.map((n) => n + 1_000));
    await expect.poll(lastRequest, SLOWLY).toBe("GET /__web/poll");
    isOldProcess = false;
    breakConnections();
    await publish("room:3", "end");
    await expect.poll(() => received.get("room:3"), SLOWLY).toEqual([...sent, "end"]);
    expect(lastRequest()).toBe("POST /__web/live");
  });

  it("with more channels than GET allows waits for a process of today, and receives what was published meanwhile", async () => {
    isOldProcess = true;
    const { subscribe } = (await import("../../src/browser/subscribe.ts")) as unknown as { subscribe: Subscribe }; // with untyped feeds
    const channels = Array.from({ length: 40 }, (_, n) => `many:${n}`);
    const received = await subscribeAll(subscribe, channels);
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    for (const channel of channels) await publish(channel, channel);
    expect(new Set(requests)).toEqual(new Set(["POST /__web/live"]));
    isOldProcess = false;
    breakConnections();
    await expect.poll(() => [...received.values()].flat()).toEqual(channels);
  });
});

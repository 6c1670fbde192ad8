import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { issueFeed, liveFunctions, poll } from "#test/live-client";
import type { App } from "../app.ts";
import { channel, createRealtime, publish } from "./index.ts";

const load = vi.fn<() => Promise<string[]>>();
const loadRoom = compiledServer("load_room", () => channel<string, string[]>("a", load));

let bus: FaultyBus;
let app: App;
beforeEach(() => {
  bus = createFaultyBus();
  createRealtime({ isBuilt: false }).use_bus(bus);
  app = createTestApp({ ...liveFunctions, load_room: loadRoom }, { rate: false });
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await app.close();
});

describe("channel", () => {
  it("reads the position before it calls load", async () => {
    const order: string[] = [];
    const position = bus.position.bind(bus);
    bus.position = async (channels) => {
      order.push("position");
      return position(channels);
    };
    load.mockImplementation(async () => {
      order.push("load");
      await publish("a", "while it loads");
      return ["row"];
    });
    const response = await callOverHttp(app, "load_room");
    const [feed, rows] = (await response.json()).result;
    expect([order, rows]).toEqual([["position", "load"], ["row"]]);
    expect((await poll(app, [feed])).events).toEqual([["a", "while it loads"]]);
  });

  it("throws outside a request", async () => {
    await expect(channel("a")).rejects.toThrow(/channel\(\) was used outside a request/);
  });

  it.each(["", "x".repeat(129), "a\nb"])("rejects the name %j", async (name) => {
    await expect(issueFeed(app, name)).rejects.toThrow(/^channel: the name of a channel must/);
  });

  it("fails after 2 s when the bus does not respond, while other requests are served", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      bus.isHanging = true;
      const position = vi.spyOn(bus, "position");
      const failed = expect(issueFeed(app, "a")).rejects.toThrow(/Something went wrong/);
      await vi.waitFor(() => expect(position).toHaveBeenCalled());
      expect(vi.getTimerCount()).toBe(1);
      expect((await app.fetch(new Request("http://shop.example/healthz"))).status).toBe(200);
      vi.advanceTimersByTime(1_900); // waitFor has advanced the clock a little
      expect(vi.getTimerCount()).toBe(1);
      vi.advanceTimersByTime(100);
      await failed;
      const logged = String(vi.mocked(console.error).mock.calls);
      expect(logged).toContain("did not return the position of a within 2 s");
    } finally {
      bus.isHanging = false;
      vi.useRealTimers();
    }
  });
});

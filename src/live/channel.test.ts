import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { issueFeed, liveFunctions, poll } from "#test/live-client";
import type { App } from "../app.ts";
import { MAX_CHANNEL_NAME_BYTES } from "../protocol/index.ts";
import { checkChannelName } from "./channel.ts";
import { type ChannelOptions, channel, createRealtime, publish } from "./index.ts";

const load = vi.fn<() => Promise<string[]>>();
const loadRoom = compiledServer("load_room", () => channel<string, string[]>("a", load));
const loadBriefly = compiledServer("load_briefly", () => channel<string, string[]>("a", load, { ttl: 60 }));
/** Returns the error of `channel` with these options. */
const tryOptions = compiledServer(
  "try_options",
  (options: ChannelOptions) => channel("a", options).then(() => "no error", String),
  { params: { options: "any" } },
);

let bus: FaultyBus;
let app: App;
beforeEach(() => {
  bus = createFaultyBus();
  createRealtime({ isBuilt: false }).use_bus(bus);
  app = createTestApp(
    { ...liveFunctions, load_room: loadRoom, load_briefly: loadBriefly, try_options: tryOptions },
    { rate: false },
  );
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

  it.each([1, 3_600, 86_400])("issues a feed that is valid for %i seconds, the option ttl [LIVE-4]", async (ttl) => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_780_000_000_000 });
    try {
      const feed = await issueFeed(app, "a", {}, { ttl });
      vi.setSystemTime(Date.now() + (ttl - 1) * 1000);
      expect((await poll(app, [feed])).gaps).toEqual([]);
      vi.setSystemTime(Date.now() + 1000);
      expect((await poll(app, [feed])).gaps).toEqual([["a", "expired"]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("issues a feed with the option ttl after load, too", async () => {
    load.mockResolvedValue(["row"]);
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const [feed] = (await (await callOverHttp(app, "load_briefly")).json()).result;
      expect((await poll(app, [feed])).gaps).toEqual([]);
      vi.setSystemTime(Date.now() + 60_000);
      expect((await poll(app, [feed])).gaps).toEqual([["a", "expired"]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    [{ ttl: 0 }, "RangeError: channel: the option ttl is 0. Pass whole seconds from 1 to 86400 (24 hours)."],
    [{ ttl: -1 }, /^RangeError: .* is -1\. Pass whole seconds/],
    [{ ttl: 1.5 }, /^RangeError: .* is 1\.5\. Pass whole seconds/],
    [{ ttl: 86_401 }, /^RangeError: .* is 86401\. Pass whole seconds/],
    [{ ttl: "60" }, "TypeError: channel: the option ttl is of type string. Pass a number of seconds: { ttl: 3600 }."],
    [{ ttl: null }, /^TypeError: .* is of type object\. Pass a number/],
    [{ tll: 60 }, "TypeError: Unknown option tll in channel(). Valid options: ttl, from."],
    [60, "TypeError: The options of channel() must be an object, for example {}. Received: number."],
  ])("rejects the options %j", async (options, message) => {
    const response = await callOverHttp(app, "try_options", { options });
    expect((await response.json()).result).toEqual(
      typeof message === "string" ? message : expect.stringMatching(message),
    );
  });

  it("fails after 2 s when the bus does not respond, while other requests are served", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      bus.isHanging = true;
      const position = vi.spyOn(bus, "position");
      const failed = expect(issueFeed(app, "a")).rejects.toThrow(/A part of the server is not available/);
      await vi.waitFor(() => expect(position).toHaveBeenCalled(), 30_000);
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

describe("the name of a channel", () => {
  it.each(["a", "room:1", "Größe 7", "👩‍🚀", "a.b.*.>", " ", "é".repeat(64), "x".repeat(MAX_CHANNEL_NAME_BYTES)])(
    "can be %j",
    (name) => {
      expect(() => checkChannelName(name, "publish")).not.toThrow();
    },
  );

  it.each([
    ["", "publish: the name of a channel must not be empty."],
    [
      "x".repeat(MAX_CHANNEL_NAME_BYTES + 1),
      /^publish: .* at most 128 bytes of UTF-8; received 129 bytes, "x{40}…"\.$/,
    ],
    [`${"é".repeat(64)}x`, /^publish: .* at most 128 bytes of UTF-8; received 129 bytes, "é{40}…"\.$/],
    ["a\nb", /control characters or unpaired surrogates; received "a\\nb"/],
    ["a\rb", /control characters/],
    ["a\0", /control characters/],
    ["\u0085", /control characters/],
    ["\ud800", /unpaired surrogates; received "\\ud800"/],
    [null, "publish: the name of a channel must be a string; received null."],
    [7, "publish: the name of a channel must be a string; received a value of type number."],
    [undefined, /received a value of type undefined/],
  ])("cannot be %j", (name, message) => {
    expect(() => checkChannelName(name, "publish")).toThrow(TypeError);
    expect(() => checkChannelName(name, "publish")).toThrow(message);
  });
});

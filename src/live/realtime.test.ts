import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { appOf } from "#test/compiled";
import { feedOf, listening, poll } from "#test/listener";
import { type SteeredBus, steeredBus } from "#test/steered-bus";
import type { App } from "../app.ts";
import { channel, publish, realtime } from "./index.ts";
import { MAX_MESSAGE_BYTES } from "./publish.ts";

let bus: SteeredBus;
let app: App;
beforeEach(() => {
  bus = steeredBus();
  realtime.use_bus(bus);
  app = appOf(listening, { rate: false });
});
afterEach(() => app.close());

describe("publish", () => {
  it("takes what the serialiser takes", async () => {
    const feed = await feedOf(app, "a");
    await publish("a", { at: new Date(0), big: 2n ** 64n, set: new Set([1]) });
    await publish("a", undefined);
    expect((await poll(app, [feed])).events).toEqual([
      ["a", { at: "1970-01-01T00:00:00.000Z", big: "18446744073709551616", set: [1] }],
      ["a", null],
    ]);
  });

  it(`takes ${MAX_MESSAGE_BYTES} bytes of JSON, and no more`, async () => {
    await publish("a", "x".repeat(MAX_MESSAGE_BYTES - 2));
    await expect(publish("a", "x".repeat(MAX_MESSAGE_BYTES - 1))).rejects.toThrow(RangeError);
    await publish("a", "é".repeat(MAX_MESSAGE_BYTES / 2 - 1));
    await expect(publish("a", "é".repeat(MAX_MESSAGE_BYTES / 2))).rejects.toThrow(/65538/);
  });

  it("refuses what cannot be sent, and a name that is none, before the bus sees it", async () => {
    const before = await bus.position(["a"]);
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    await expect(publish("a", cycle)).rejects.toThrow("self cannot be sent: it contains itself.");
    await expect(publish("a", { p: Promise.resolve() })).rejects.toThrow(/promise/);
    await expect(publish("a\nb", 1)).rejects.toThrow(TypeError);
    expect(await bus.position(["a"])).toEqual(before);
  });

  it("fails where the bus does", async () => {
    bus.isAway = true;
    await expect(publish("a", 1)).rejects.toThrow("The bus is away.");
  });
});

describe("channel", () => {
  it("takes the position before what the page shows is loaded", async () => {
    const order: string[] = [];
    const position = bus.position.bind(bus);
    bus.position = async (channels) => {
      order.push("position");
      return position(channels);
    };
    const loading = compiledChannel(async () => {
      order.push("load");
      await publish("a", "while it loads");
      return ["row"];
    });
    const [feed, rows] = await loading;
    expect([order, rows]).toEqual([["position", "load"], ["row"]]);
    expect((await poll(app, [feed])).events).toEqual([["a", "while it loads"]]);
  });

  it("works within a request alone", async () => {
    await expect(channel("a")).rejects.toThrow(/channel\(\) was used outside a request/);
  });

  it.each(["", "x".repeat(129), "a\nb"])("refuses the name %j", async (name) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    await expect(feedOf(app, name)).rejects.toThrow(/^channel: a channel's name/);
    log.mockRestore();
  });

  it("fails after 2 s when the bus does not answer, and pages without feeds are served as ever", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      bus.isHanging = true;
      const position = vi.spyOn(bus, "position");
      const asking = expect(feedOf(app, "a")).rejects.toThrow(/Something went wrong/);
      await vi.waitFor(() => expect(position).toHaveBeenCalled());
      expect(vi.getTimerCount()).toBe(1);
      expect((await app.fetch(new Request("http://shop.example/healthz"))).status).toBe(200);
      vi.advanceTimersByTime(1_900); // waitFor has moved the clock a little
      expect(vi.getTimerCount()).toBe(1);
      vi.advanceTimersByTime(100);
      await asking;
      expect(String(log.mock.calls)).toContain("did not say within 2 s where a stands");
    } finally {
      bus.isHanging = false;
      vi.useRealTimers();
      log.mockRestore();
    }
  });
});

describe("a poll while the bus is away", () => {
  it("answers 503, and when to ask again", async () => {
    const feed = await feedOf(app, "a");
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    bus.isAway = true;
    const response = await app.fetch(new Request(`http://shop.example/__web/poll?feed=${feed}`));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    bus.isAway = false;
    expect((await poll(app, [feed])).gaps).toEqual([]);
    log.mockRestore();
  });
});

/** Calls `channel` with something to load, in a request. */
async function compiledChannel(load: () => Promise<string[]>): Promise<[string, string[]]> {
  let given: [string, string[]] | undefined;
  const { compiledServer, call, appOf: make } = await import("#test/compiled");
  const own = make({
    ask_for: compiledServer("ask_for", async () => {
      given = await channel<string, string[]>("a", load);
    }),
  });
  expect((await call(own, "ask_for")).status).toBe(200);
  if (!given) throw new Error("The function did not run.");
  return given;
}

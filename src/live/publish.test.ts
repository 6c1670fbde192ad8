import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestApp } from "#test/compiled-app";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { issueFeed, liveFunctions, poll } from "#test/live-client";
import type { App } from "../app.ts";
import { MAX_MESSAGE_BYTES } from "./channel.ts";
import { createRealtime, publish } from "./index.ts";

let bus: FaultyBus;
let app: App;
beforeEach(() => {
  bus = createFaultyBus();
  createRealtime({ isBuilt: false }).use_bus(bus);
  app = createTestApp(liveFunctions, { rate: false });
});
afterEach(() => app.close());

describe.each([
  ["publish", publish],
  ["app.publish", (name: string, data?: unknown) => app.publish(name, data)],
])("%s", (_name, publishMessage) => {
  it("serialises what a server function can return", async () => {
    const feed = await issueFeed(app, "a");
    await publishMessage("a", { at: new Date(0), big: 2n ** 64n, set: new Set([1]) });
    await publishMessage("a", undefined);
    await publishMessage("a");
    expect((await poll(app, [feed])).events).toEqual([
      ["a", { at: "1970-01-01T00:00:00.000Z", big: "18446744073709551616", set: [1] }],
      ["a", null],
      ["a", null],
    ]);
  });

  it("keeps the order of calls that are not awaited", async () => {
    const feed = await issueFeed(app, "a");
    await Promise.all(Array.from({ length: 200 }, (_, number) => publishMessage("a", number)));
    const events = (await poll(app, [feed])).events.map(([, message]) => message);
    expect(events).toEqual(Array.from({ length: 200 }, (_, number) => number));
  });

  it(`accepts ${MAX_MESSAGE_BYTES} bytes of JSON, and rejects one byte more`, async () => {
    await publishMessage("a", "x".repeat(MAX_MESSAGE_BYTES - 2));
    await expect(publishMessage("a", "x".repeat(MAX_MESSAGE_BYTES - 1))).rejects.toThrow(RangeError);
    await publishMessage("a", "é".repeat(MAX_MESSAGE_BYTES / 2 - 1));
    await expect(publishMessage("a", "é".repeat(MAX_MESSAGE_BYTES / 2))).rejects.toThrow(
      "publish: the message to a has 65538 bytes of JSON; the maximum is 65536. Store the data, for example in your " +
        "database, and publish its id: pages then load it with a server function.",
    );
  });

  it("rejects data that cannot be serialised and an invalid name, and publishes nothing", async () => {
    const before = await bus.position(["a"]);
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    await expect(publishMessage("a", cycle)).rejects.toThrow("self cannot be sent: it contains itself.");
    await expect(publishMessage("a", { p: Promise.resolve() })).rejects.toThrow(/promise/);
    await expect(publishMessage("a\nb", 1)).rejects.toThrow(TypeError);
    expect(await bus.position(["a"])).toEqual(before);
  });

  it("rejects when the bus does", async () => {
    bus.isUnreachable = true;
    await expect(publishMessage("a", 1)).rejects.toThrow("The bus is unreachable.");
  });
});

/** Feeds that begin at the oldest stored message: `channel(name, { from: "start" })`. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { issueFeed, liveFunctions, openEventStream, poll } from "#test/live-client";
import type { App } from "../app.ts";
import { memory } from "../backends/index.ts";
import { channel, createRealtime, publish } from "./index.ts";

const loadRoom = compiledServer("load_room", () => channel("room", async () => ["row"], { from: "start" }));

const realtime = createRealtime({ isBuilt: false });
let bus: FaultyBus;
let app: App;
beforeEach(() => {
  bus = createFaultyBus();
  realtime.use_bus(bus);
  app = createTestApp({ ...liveFunctions, load_room: loadRoom }, { rate: false });
});
afterEach(() => app.close());

const fromStart = (name = "room", headers = {}) => issueFeed(app, name, headers, { from: "start" });

describe("a feed from the start", () => {
  it("delivers the messages of before it was issued, in event streams and polls [LIVE-30]", async () => {
    await publish("room", 1);
    const feed = await fromStart();
    await publish("room", 2);
    const polled = await poll(app, [feed]);
    expect(polled).toMatchObject({
      events: [
        ["room", 1],
        ["room", 2],
      ],
      gaps: [],
    });
    const stream = await openEventStream(app, [feed]);
    expect(await stream.take(2)).toEqual([1, 2]);
    await publish("room", 3);
    expect(await stream.take(1)).toEqual([3]);
    await stream.close();
    expect((await poll(app, [feed], { after: polled.cursor })).events).toEqual([["room", 3]]);
  });

  it("is issued with the data that `load` returns", async () => {
    await publish("room", 1);
    const [feed, rows] = (await (await callOverHttp(app, "load_room")).json()).result;
    expect(rows).toEqual(["row"]);
    expect((await poll(app, [feed])).events).toEqual([["room", 1]]);
  });

  it("begins at the oldest stored message when the page first connects, and has a gap for what is removed later", async () => {
    realtime.use_bus(memory({ messages: 3 }));
    const feed = await fromStart();
    for (let number = 0; number < 5; number++) await publish("room", number);
    const first = await poll(app, [feed]);
    expect(first.events.map(([, message]) => message)).toEqual([2, 3, 4]);
    for (let number = 5; number < 9; number++) await publish("room", number);
    expect(await poll(app, [feed], { after: first.cursor })).toMatchObject({ events: [], gaps: [["room", "trimmed"]] });
    const stream = await openEventStream(app, [feed], { after: first.cursor });
    expect((await stream.next()).data).toEqual(["room", "trimmed"]);
    await stream.close();
  });

  it("has a real position after the first poll of an empty channel, so that a later loss is a gap", async () => {
    const feed = await fromStart();
    const { cursor, events } = await poll(app, [feed]);
    expect(events).toEqual([]);
    expect(cursor).toMatch(/^[0-9a-z]{13}[.]/);
    await publish("room", 1);
    expect((await poll(app, [feed], { after: cursor })).events).toEqual([["room", 1]]);
    bus.loseHistory();
    expect((await poll(app, [feed], { after: cursor })).gaps).toEqual([["room", "reset"]]);
  });

  it("tells an event stream at once where an empty channel starts, so that a later loss is a gap", async () => {
    const feed = await fromStart();
    const stream = await openEventStream(app, [feed]);
    const { event, id = "" } = await stream.next();
    expect([event, id]).toEqual(["ping", expect.stringMatching(/^[0-9a-z]{13}[.]/)]);
    await stream.close();
    bus.loseHistory();
    const resumed = await openEventStream(app, [feed], { headers: { "last-event-id": id } });
    expect((await resumed.next()).data).toEqual(["room", "reset"]);
    await resumed.close();
  });

  it("is independent of other feeds of its request", async () => {
    await publish("room", 1);
    await publish("other", "before");
    const [feed, other] = [await fromStart(), await issueFeed(app, "other")];
    await publish("other", "after");
    const stream = await openEventStream(app, [feed, other]);
    expect((await stream.take(2)).sort()).toEqual([1, "after"]);
    await stream.close();
  });

  it("is issued while the bus is unreachable", async () => {
    bus.isUnreachable = true;
    const feed = await fromStart();
    bus.isUnreachable = false;
    await publish("room", 1);
    expect((await poll(app, [feed])).events).toEqual([["room", 1]]);
  });
});

it("a cursor with the position of a start does not move another feed to messages of before it was issued [LIVE-31]", async () => {
  await publish("room", "before");
  const feed = await issueFeed(app, "room");
  await publish("room", "after");
  expect((await poll(app, [feed], { after: "0" })).events).toEqual([["room", "after"]]);
  const stream = await openEventStream(app, [feed], { headers: { "last-event-id": "0" } });
  expect(await stream.take(1)).toEqual(["after"]);
  await stream.close();
});

describe("the option from of channel", () => {
  it.each([
    ["end", 'channel: the option from is "end"'],
    [1, "channel: the option from is of type number"],
  ])("cannot be %j", async (from, message) => {
    await expect(issueFeed(app, "room", {}, { from })).rejects.toThrow(message);
  });

  it("cannot be used with a bus of the application that has no method readOldest", async () => {
    const { readOldest: _, ...without } = createFaultyBus();
    realtime.use_bus(without);
    const response = await callOverHttp(app, "feed_of", { name: "room", options: { from: "start" } });
    expect(response.status).toBe(500);
  });
});

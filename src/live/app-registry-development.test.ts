/**
 * Applications in a development server, which makes a new App after every edit and does not close the earlier one.
 * In a file of its own, because a process stays a development server.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { issueFeed, liveFunctions, openEventStream, poll } from "#test/live-client";
import type { App } from "../app.ts";
import { type Bus, memory } from "../backends/index.ts";
import { requireInternals } from "../server/index.ts";
import { createRealtime, listen, publish } from "./index.ts";

const publish_text = compiledServer("publish_text", (text: string) => publish("room", text), {
  params: { text: "any" },
});

/** Makes an application, as the evaluation of an edited src/app.ts does. */
const evaluate = (): App => createTestApp({ ...liveFunctions, publish_text }, { rate: false });

/** Marks an application as the development server does before each request. */
function setDevelopment(app: App): void {
  const assets = { app: [], loader: "", styles: () => [], url: () => "" };
  const development = { assets, called: [], showError: async () => "" };
  // The assets are not used by these tests.
  Reflect.apply(requireInternals(app, "the test").setDevelopment, undefined, [development]);
}

async function messagesOf(app: App, feed: string): Promise<unknown[]> {
  return (await poll(app, [feed])).events.map(([, message]) => message);
}

let current: App;
beforeAll(() => {
  const failed = evaluate(); // its src/app.ts threw after new App: the server retries
  current = evaluate();
  setDevelopment(current);
  expect(failed).not.toBe(current);
});
afterAll(() => current.close());

/** Replaces the application, as an edit does. @returns the earlier one */
function edit(): App {
  const earlier = current;
  current = evaluate();
  setDevelopment(current);
  return earlier;
}

describe("after an edit", () => {
  it("the new application delivers what was published before", async () => {
    const feed = await issueFeed(current, "room");
    await publish("room", "before");
    edit();
    await publish("room", "after");
    expect(await messagesOf(current, feed)).toEqual(["before", "after"]);
  });

  it("each application delivers messages of the other", async () => {
    const feed = await issueFeed(current, "room");
    const stream = await openEventStream(current, [feed]);
    const earlier = edit();
    await callOverHttp(earlier, "publish_text", { text: "from the earlier" });
    await callOverHttp(current, "publish_text", { text: "from the new" });
    expect(await messagesOf(current, feed)).toEqual(["from the earlier", "from the new"]);
    expect(await stream.take(2)).toEqual(["from the earlier", "from the new"]);
    await stream.close();
  });

  it("publish outside a request uses the new application, also while it is evaluated", async () => {
    const feed = await issueFeed(current, "room");
    edit();
    current = evaluate();
    await publish("room", 1);
    setDevelopment(current);
    await publish("room", 2);
    expect(await messagesOf(current, feed)).toEqual([1, 2]);
  });

  it("closing the earlier application does not close the bus of the new one", async () => {
    const feed = await issueFeed(current, "room");
    const earlier = edit();
    await earlier.close();
    await current.publish("room", 1);
    expect(await messagesOf(current, feed)).toEqual([1]);
  });

  it("a request to the earlier application does not make that one current again", async () => {
    const earlier = edit();
    setDevelopment(earlier); // it was loaded before the edit
    const feed = await issueFeed(current, "room");
    await publish("room", 1);
    expect(await messagesOf(current, feed)).toEqual([1]);
  });

  it("use_bus installs the bus of the edited file, for the earlier application too, and closes the previous", async () => {
    const realtime = createRealtime({ isBuilt: false });
    const [first, second] = [memory(), memory()];
    const close = vi.spyOn(first, "close");
    realtime.use_bus(first);
    edit();
    await current.publish("room", 1);
    realtime.use_bus(second);
    const earlier = edit();
    expect(close).toHaveBeenCalledTimes(1);
    const feed = await issueFeed(current, "room");
    await callOverHttp(earlier, "publish_text", { text: "from the earlier" });
    expect(await messagesOf(current, feed)).toEqual(["from the earlier"]);
  });

  it("a loop of listen that began before receives what either application publishes", async () => {
    const messages = listen("room");
    await messages.ready;
    const next = messages.next();
    const earlier = edit();
    await callOverHttp(earlier, "publish_text", { text: "from the earlier" });
    edit();
    await current.publish("room", "from the new");
    expect([await next, await messages.next()]).toMatchObject([
      { value: "from the earlier" },
      { value: "from the new" },
    ]);
    await messages.return();
  });

  it("a loop continues when use_bus installs another bus with the same messages", async () => {
    const realtime = createRealtime({ isBuilt: false });
    const shared = memory();
    // Each edit of src/app.ts makes a new bus of the same server, and closes the earlier one.
    const connect = () => {
      const listeners: (() => void)[] = [];
      const close = async () => {
        for (const stop of listeners.splice(0)) stop();
      };
      const watch: Bus["watch"] = async (channel, listener) => {
        const stop = await shared.watch(channel, listener);
        listeners.push(stop);
        return stop;
      };
      const {
        publish: store,
        position,
        read,
      } = {
        publish: shared.publish.bind(shared),
        position: shared.position.bind(shared),
        read: shared.read.bind(shared),
      };
      return { publish: store, position, read, watch, close };
    };
    realtime.use_bus(connect());
    edit();
    const messages = listen("room");
    const next = messages.next();
    await messages.ready;
    realtime.use_bus(connect());
    edit();
    await current.publish("room", 1);
    expect(await next).toMatchObject({ value: 1 });
    realtime.use_bus(connect());
    await current.publish("room", 2);
    expect(await messages.next()).toMatchObject({ value: 2 });
    await messages.return();
  });
});

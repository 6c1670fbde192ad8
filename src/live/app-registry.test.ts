import { afterEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { createFaultyBus } from "#test/faulty-bus";
import { issueFeed, liveFunctions, poll } from "#test/live-client";
import type { App } from "../app.ts";
import { memory } from "../backends/index.ts";
import { channel, createRealtime, publish } from "./index.ts";

const realtime = createRealtime({ isBuilt: false });

const apps: App[] = [];

/** Returns an application with functions that publish. */
function openApp(functions: Readonly<Record<string, unknown>> = {}): App {
  const publish_text = compiledServer("publish_text", (text: string) => publish("room", text), {
    params: { text: "any" },
  });
  const app = createTestApp({ ...liveFunctions, publish_text, ...functions }, { rate: false });
  apps.push(app);
  return app;
}

/** Returns the messages of a feed, by a poll of its application. */
async function messagesOf(app: App, feed: string): Promise<unknown[]> {
  return (await poll(app, [feed])).events.map(([, message]) => message);
}

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

describe("publish in a request", () => {
  it("publishes to the application that handles the request only", async () => {
    const [first, second] = [openApp(), openApp()];
    const feeds = [await issueFeed(first, "room"), await issueFeed(second, "room")] as const;
    await callOverHttp(first, "publish_text", { text: "to the first" });
    await callOverHttp(second, "publish_text", { text: "to the second" });
    expect(await messagesOf(first, feeds[0])).toEqual(["to the first"]);
    expect(await messagesOf(second, feeds[1])).toEqual(["to the second"]);
  });

  it("publishes to the inner application in a request that is sent while another one handles a request", async () => {
    const inner = openApp();
    const outer = openApp({
      relay: compiledServer("relay", async () => {
        await callOverHttp(inner, "publish_text", { text: "from the inner" });
        await publish("room", "from the outer");
      }),
    });
    const feeds = [await issueFeed(inner, "room"), await issueFeed(outer, "room")] as const;
    await callOverHttp(outer, "relay");
    expect(await messagesOf(inner, feeds[0])).toEqual(["from the inner"]);
    expect(await messagesOf(outer, feeds[1])).toEqual(["from the outer"]);
  });

  it("publishes to the application of the request in a timer that the request started", async () => {
    const later = compiledServer("later", () => void setTimeout(() => publish("room", "later"), 1));
    const [first] = [openApp({ later }), openApp()];
    const feed = await issueFeed(first, "room");
    await callOverHttp(first, "later");
    await expect.poll(() => messagesOf(first, feed)).toEqual(["later"]);
  });
});

describe("publish outside a request", () => {
  it("publishes to the only application of the process", async () => {
    const app = openApp();
    const feed = await issueFeed(app, "room");
    await publish("room", 1);
    expect(await messagesOf(app, feed)).toEqual([1]);
  });

  it("throws when there are several applications, with their number and app.publish", async () => {
    openApp();
    openApp();
    openApp();
    await expect(publish("room", 1)).rejects.toThrow(
      "publish was called outside a request, and this process has 3 applications. " +
        "Call app.publish(name, data) of the application that the message is for, or close the other applications.",
    );
  });

  it("publishes to the application that is left when the others are closed", async () => {
    const [first, second] = [openApp(), openApp()];
    const feed = await issueFeed(second, "room");
    await first.close();
    await first.close(); // the second time has no effect
    await publish("room", 1);
    expect(await messagesOf(second, feed)).toEqual([1]);
  });

  it("does not count an application whose constructor threw", async () => {
    const app = openApp();
    const feed = await issueFeed(app, "room");
    expect(() => createTestApp(liveFunctions, { base: "no slash" })).toThrow(/base/);
    await publish("room", 1);
    expect(await messagesOf(app, feed)).toEqual([1]);
  });

  it("resolves before the first application, and throws after the last one was closed", async () => {
    vi.resetModules();
    const fresh = await import("./index.ts"); // other tests have opened and closed applications
    await fresh.publish("room", 1);
    await openApp().close();
    await expect(publish("room", 2)).rejects.toThrow("The application is closed: app.close() was called while");
  });
});

describe("an application that was closed", () => {
  it("opens no bus for a request that still publishes: publish throws, and so do channel and app.publish", async () => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const results: unknown[] = [];
    const slow = compiledServer("slow", async () => {
      await released;
      for (const use of [() => publish("room", 1), () => channel("room")]) {
        results.push(await use().catch((error: Error) => error.message));
      }
    });
    const app = openApp({ slow });
    openApp(); // closing the last application is another case
    const call = callOverHttp(app, "slow");
    await app.publish("room", 0);
    await app.close();
    release();
    await call;
    const closed = expect.stringMatching(/^The application is closed: app\.close\(\) was called while a request/);
    expect(results).toEqual([closed, closed]);
    await expect(app.publish("room", 2)).rejects.toThrow("The application is closed");
  });
});

describe("app.publish", () => {
  it("publishes to its application only", async () => {
    const [first, second] = [openApp(), openApp()];
    const feeds = [await issueFeed(first, "room"), await issueFeed(second, "room")] as const;
    await second.publish("room", "to the second");
    expect(await messagesOf(first, feeds[0])).toEqual([]);
    expect(await messagesOf(second, feeds[1])).toEqual(["to the second"]);
  });
});

describe("realtime.use_bus", () => {
  it("installs one bus for all applications: messages of one are delivered by the other", async () => {
    realtime.use_bus(memory());
    const [first, second] = [openApp(), openApp()];
    const feed = await issueFeed(second, "room");
    await callOverHttp(first, "publish_text", { text: "from the first" });
    expect(await messagesOf(second, feed)).toEqual(["from the first"]);
  });

  it("installs the bus also for applications that were made before and have not used theirs", async () => {
    const app = openApp();
    const bus = createFaultyBus();
    realtime.use_bus(bus);
    const position = vi.spyOn(bus, "position");
    await issueFeed(app, "room");
    expect(position).toHaveBeenCalledTimes(1);
  });

  it("has the bus closed with the last application, whichever that is", async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ] as const) {
      const bus = memory();
      const close = vi.spyOn(bus, "close");
      realtime.use_bus(bus);
      const pair = [openApp(), openApp()] as const;
      await issueFeed(pair[0], "room");
      await pair[order[0]].close();
      expect(close).not.toHaveBeenCalled();
      await pair[order[1]].publish("room", "still open");
      await pair[order[1]].close();
      expect(close).toHaveBeenCalledTimes(1);
    }
  });

  it("installs the bus for one set of applications: those made after it was closed have a bus in memory", async () => {
    const bus = memory();
    const published = vi.spyOn(bus, "publish");
    realtime.use_bus(bus);
    await openApp().close();
    await openApp().publish("room", 1);
    expect(published).not.toHaveBeenCalled();
  });

  it("replaces and closes the previous bus, unless the application is built", async () => {
    const app = openApp();
    const [first, second] = [memory(), memory()];
    realtime.use_bus(first);
    await app.publish("room", 1);
    const close = vi.spyOn(first, "close");
    realtime.use_bus(second);
    expect(close).toHaveBeenCalledTimes(1);
    const published = vi.spyOn(second, "publish");
    await app.publish("room", 2);
    expect(published).toHaveBeenCalledTimes(1);
  });

  it("leaves a bus open that is installed again", async () => {
    const bus = memory();
    realtime.use_bus(bus);
    realtime.use_bus(bus);
    await openApp().publish("room", 1);
  });

  describe("of a built application", () => {
    const built = createRealtime({ isBuilt: true });

    it("throws when a bus is in use, and leaves that one as it is", async () => {
      const app = openApp();
      const feed = await issueFeed(app, "room");
      const other = memory();
      const published = vi.spyOn(other, "publish");
      expect(() => built.use_bus(other)).toThrow(/^realtime\.use_bus: a bus is already in use\./);
      await app.publish("room", 1);
      expect(published).not.toHaveBeenCalled();
      expect(await messagesOf(app, feed)).toEqual([1]);
    });

    it("throws when a bus was installed already", async () => {
      const app = openApp();
      built.use_bus(memory());
      expect(() => built.use_bus(memory())).toThrow(/already in use/);
      await app.publish("room", 1);
    });
  });
});

import { afterEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { createFaultyBus } from "#test/faulty-bus";
import type { App } from "../app.ts";
import { memory } from "../backends/index.ts";
import { request } from "../http/index.ts";
import { createRealtime, GapError, type LiveMessages, listen, publish } from "./index.ts";

const realtime = createRealtime({ isBuilt: false });
const apps: App[] = [];

function openApp(functions: Readonly<Record<string, unknown>> = {}): App {
  const app = createTestApp({ empty: compiledServer("empty", () => null), ...functions }, { rate: false });
  apps.push(app);
  return app;
}

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

/** Takes the next messages of a loop. */
async function take<T>(messages: LiveMessages<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  while (taken.length < count) {
    const { value, done } = await messages.next();
    if (done) throw new Error(`The loop has ended after ${taken.length} messages.`);
    taken.push(value);
  }
  return taken;
}

/** Node 20 has no `Promise.withResolvers`. */
function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

describe("listen", () => {
  it("returns every message from the call on, once and in order, as it was serialised", async () => {
    openApp();
    await publish("room", "before");
    const messages = listen("room");
    const published = Promise.all([publish("room", 1), publish("room", { at: new Date(0) }), publish("room")]);
    expect(await take(messages, 3)).toEqual([1, { at: "1970-01-01T00:00:00.000Z" }, null]);
    await published;
    const next = messages.next();
    await publish("elsewhere", "other");
    await publish("room", "live");
    expect(await next).toEqual({ value: "live", done: false });
    await messages.return();
  });

  it("returns what is published between `ready` and the first use of the loop", async () => {
    openApp();
    const messages = listen("room");
    await messages.ready;
    for (const number of numbers(5)) await publish("room", number);
    expect(await take(messages, 5)).toEqual(numbers(5));
    await messages.return();
  });

  it("returns the messages to several calls of `next` in order", async () => {
    openApp();
    const messages = listen("room");
    const calls = [messages.next(), messages.next(), messages.next()];
    await publish("room", 1);
    await publish("room", 2);
    await publish("room", 3);
    expect((await Promise.all(calls)).map(({ value }) => value)).toEqual([1, 2, 3]);
    const pending = [messages.next(), messages.next()];
    await messages.return();
    expect(await Promise.all(pending)).toEqual([
      { value: undefined, done: true },
      { value: undefined, done: true },
    ]);
  });

  it("begins at the oldest stored message with { from: 'start' }", async () => {
    const bus = memory({ messages: 3 });
    realtime.use_bus(bus);
    openApp();
    for (const number of numbers(5)) await publish("room", number);
    const messages = listen("room", { from: "start" });
    expect(await take(messages, 3)).toEqual([2, 3, 4]);
    await publish("room", 5);
    expect(await take(messages, 1)).toEqual([5]);
    await messages.return();
  });

  it("ends with the loop: it leaves no listener in the bus and no timer", async () => {
    vi.useFakeTimers();
    try {
      const bus = createFaultyBus();
      realtime.use_bus(bus);
      openApp();
      await publish("room", 1);
      for await (const message of listen("room", { from: "start" })) {
        expect(message).toBe(1);
        break;
      }
      listen("room"); // never used: nothing refers to it
      await vi.advanceTimersByTimeAsync(20_000);
      expect([bus.listenerCounts.size, vi.getTimerCount()]).toEqual([0, 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("keeps few messages for a slow loop, and reads the others from the bus", async () => {
    const bus = createFaultyBus();
    realtime.use_bus(bus);
    openApp();
    const messages = listen("room");
    await messages.ready;
    const text = "x".repeat(10_000);
    await publish("room", 0);
    expect(await take(messages, 1)).toEqual([0]);
    for (const number of numbers(300)) await publish("room", `${number} ${text}`);
    const before = bus.readCount;
    const received = (await take(messages, 300)).map((message) => Number.parseInt(String(message), 10));
    expect(received).toEqual(numbers(300));
    expect(bus.readCount - before).toBeGreaterThan(10);
    await messages.return();
  });
});

describe("a loop that cannot continue completely", () => {
  it("throws a GapError with the reason `trimmed` when its next messages are no longer stored", async () => {
    const bus = createFaultyBus();
    realtime.use_bus(bus);
    openApp();
    const messages = listen("room");
    await messages.ready;
    // More than the bus in memory stores of a channel.
    for (const number of numbers(1_100)) await publish("room", number);
    const error = await messages.next().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(GapError);
    expect(error).toMatchObject({ name: "GapError", channel: "room", reason: "trimmed" });
    expect(String(error)).toBe(
      "GapError: listen: messages of the channel room may be missing (trimmed): they are no longer stored, because the " +
        "loop was slower than the publishers, or the bus was unreachable for long. Catch this error, load the current " +
        "state, and listen again.",
    );
    expect(await messages.next()).toEqual({ value: undefined, done: true });
  });

  it("throws a GapError with the reason `reset` when the bus has lost its history", async () => {
    const bus = createFaultyBus();
    realtime.use_bus(bus);
    openApp();
    const messages = listen("room");
    const next = messages.next();
    await publish("room", 1);
    expect(await next).toMatchObject({ value: 1 });
    const gap = messages.next().catch((reason: unknown) => reason);
    bus.loseHistory();
    expect(await gap).toMatchObject({ name: "GapError", reason: "reset" });
  });

  it("throws a GapError when the bus of the process is replaced by one without its messages", async () => {
    openApp();
    const messages = listen("room");
    const gap = messages.next().catch((reason: unknown) => reason);
    await messages.ready;
    realtime.use_bus(memory());
    expect(await gap).toMatchObject({ name: "GapError", reason: "reset" });
  });
});

describe("while the bus is unreachable", () => {
  it("waits, and continues with the missed messages", async () => {
    const bus = createFaultyBus();
    realtime.use_bus(bus);
    openApp();
    const messages = listen("room");
    const first = messages.next();
    await publish("room", 1);
    expect(await first).toMatchObject({ value: 1 });
    const next = messages.next();
    bus.suppressesNotifications = true;
    await publish("room", 2);
    bus.isUnreachable = true;
    bus.notifyAll();
    await expect(publish("room", 3)).rejects.toThrow("unreachable");
    bus.isUnreachable = false;
    bus.suppressesNotifications = false;
    await publish("room", 4);
    expect([await next, await messages.next()]).toMatchObject([{ value: 2 }, { value: 4 }]);
    await messages.return();
  });

  it("waits for the position from which it begins", async () => {
    const bus = createFaultyBus();
    bus.isUnreachable = true;
    realtime.use_bus(bus);
    openApp();
    const messages = listen("room");
    const next = messages.next();
    bus.isUnreachable = false;
    await messages.ready;
    await publish("room", 1);
    expect(await next).toMatchObject({ value: 1 });
    await messages.return();
  });

  it("ends at once when its signal aborts, although the bus does not respond", async () => {
    const bus = createFaultyBus();
    bus.isHanging = true;
    realtime.use_bus(bus);
    openApp();
    const controller = new AbortController();
    const next = listen("room", { signal: controller.signal }).next();
    controller.abort(new Error("enough"));
    await expect(next).rejects.toThrow("enough");
    bus.isHanging = false;
  });
});

describe("the end of a loop", () => {
  it("throws the reason of its signal, also one that has aborted before", async () => {
    openApp();
    const controller = new AbortController();
    const messages = listen("room", { signal: controller.signal });
    const next = messages.next();
    controller.abort();
    await expect(next).rejects.toMatchObject({ name: "AbortError" });
    expect(await messages.next()).toEqual({ value: undefined, done: true });
    await expect(listen("room", { signal: AbortSignal.abort() }).next()).rejects.toMatchObject({ name: "AbortError" });
  });

  it("comes when the application is closed, without an error", async () => {
    const app = openApp();
    const messages = listen("room");
    const next = messages.next();
    await messages.ready;
    await app.close();
    expect(await next).toEqual({ value: undefined, done: true });
  });

  it("comes when the application is closed while the bus is unreachable", async () => {
    const bus = createFaultyBus();
    bus.isUnreachable = true;
    realtime.use_bus(bus);
    const app = openApp();
    const next = listen("room").next();
    await app.close();
    expect(await next).toEqual({ value: undefined, done: true });
  });

  it("comes in a request when the process stops, and outside of requests not before the application is closed", async () => {
    const wait = compiledServer("wait", async () => {
      const received: unknown[] = [];
      for await (const message of listen("room")) received.push(message);
      return received;
    });
    const app = openApp({ wait });
    const outside = listen("room");
    const next = outside.next();
    const response = callOverHttp(app, "wait");
    await outside.ready;
    await publish("room", "first");
    expect(await next).toMatchObject({ value: "first" });
    app.drain(0);
    expect(await (await response).json()).toMatchObject({ result: expect.any(Array) });
    await publish("room", "second");
    expect(await outside.next()).toMatchObject({ value: "second" });
    await outside.return();
  });

  it("comes with the request: the loop throws when the client disconnects", async () => {
    const ended = deferred<unknown>();
    const begun = deferred<void>();
    const wait = compiledServer("wait", async () => {
      const messages = listen("room", { signal: new AbortController().signal });
      void messages.ready.then(begun.resolve);
      await messages.next().catch(ended.resolve);
      ended.resolve(request.id);
    });
    const app = openApp({ wait });
    const client = new AbortController();
    const response = callOverHttp(app, "wait", {}, { signal: client.signal }).catch(() => undefined);
    await begun.promise;
    client.abort();
    expect(await ended.promise).toMatchObject({ name: "AbortError" });
    await response;
  });

  it("does not come with the response of a request that has started work in the background", async () => {
    const received = deferred<unknown>();
    const start = compiledServer("start", () => {
      void (async () => {
        for await (const message of listen("room")) return received.resolve(message);
      })();
    });
    const app = openApp({ start });
    await callOverHttp(app, "start");
    await publish("room", "later");
    expect(await received.promise).toBe("later");
  });
});

describe("the application of a loop", () => {
  it("is that of the request, in a process with several", async () => {
    const wait = compiledServer("wait", async () => {
      for await (const message of listen("room", { from: "start" })) return message;
    });
    const [first, second] = [openApp({ wait }), openApp({ wait })];
    await first.publish("room", "of the first");
    await second.publish("room", "of the second");
    const results = await Promise.all([first, second].map(async (app) => (await callOverHttp(app, "wait")).json()));
    expect(results).toMatchObject([{ result: "of the first" }, { result: "of the second" }]);
  });

  it("is the one that is passed, outside of requests in a process with several", async () => {
    const [first, second] = [openApp(), openApp()];
    expect(() => listen("room")).toThrow(
      "listen was called outside a request, and this process has 2 applications. Pass the application whose messages it " +
        "receives: listen(name, { app }), or close the other applications.",
    );
    const messages = listen("room", { app: second });
    await first.publish("room", "of the first");
    await second.publish("room", "of the second");
    expect(await take(messages, 1)).toEqual(["of the second"]);
    await messages.return();
  });
});

describe("listen rejects", () => {
  it.each([
    [{ sginal: null }, "Unknown option sginal in listen(). Valid options: signal, from, app."],
    [{ signal: 5 }, "listen: the option signal is of type number. Pass an AbortSignal"],
    [{ from: "end" }, 'listen: the option from is "end". Pass "start", or leave it out to begin now.'],
    [{ from: 7 }, "listen: the option from is of type number."],
    [{ app: {} }, "listen: the option app is of type object, and no App. Pass what new App has returned."],
  ])("the options %j", (options, message) => {
    openApp();
    // The types reject them too.
    expect(() => Reflect.apply(listen, undefined, ["room", options])).toThrow(message);
  });

  it("an invalid name of a channel", () => {
    expect(() => listen("")).toThrow("listen: the name of a channel must not be empty.");
  });

  it("a bus of the application without `readOldest`, with { from: 'start' } only", () => {
    const { readOldest: _, ...bus } = createFaultyBus();
    realtime.use_bus(bus);
    openApp();
    expect(() => listen("room", { from: "start" })).toThrow("The bus has no method readOldest");
    expect(() => listen("room")).not.toThrow();
  });
});

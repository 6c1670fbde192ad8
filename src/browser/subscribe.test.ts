import { h } from "preact";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeEvent, FakePage } from "#test/fake-page";
import { nextRender, TextRoot } from "#test/text-root";
import { unsignedFeed } from "#test/unsigned-feed";

const room = unsignedFeed<string>("room:1", { position: "p.3" });
const news = unsignedFeed<string>("news", { position: "p.7" });

let page: FakePage;
let received: unknown[];

beforeEach(async () => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0);
  page = await FakePage.open({ base: "/app" });
  received = [];
});

afterEach(() => {
  expect(page.consoleErrors).toEqual([]);
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const record = (name: string) => (message: unknown) => received.push(`${name}: ${message}`);

describe("the request of a page", () => {
  test("is one event stream for all subscriptions of one task", async () => {
    page.subscribe(room, record("a"));
    page.subscribe(news, record("b"));
    page.subscribe(room, record("c"));
    expect(page.requests).toEqual([]);
    await page.advance();
    expect(page.requests.length).toBe(1);
    expect(page.lastRequest.path).toBe("/app/__web/live");
    expect(page.lastRequest.feeds).toEqual([room, news]);
    expect(page.lastRequest.after).toBe("p.3,p.7");
  });

  test("is a POST with JSON, and a poll by GET to a server of an earlier version, which responds with 405 twice", async () => {
    page.subscribe(room, record("room"));
    await page.advance();
    const [post] = page.requests;
    expect([post?.method, post?.headers.get("content-type"), post?.url.search]).toEqual([
      "POST",
      "application/json",
      "",
    ]);
    post?.respondJson({ error: {} }, 405);
    await page.waitForRequest();
    page.lastRequest.respondJson({ error: {} }, 405);
    await page.advance();
    expect([page.lastRequest.method, page.lastRequest.path]).toEqual(["POST", "/app/__web/poll"]);
    page.lastRequest.respondJson({ error: {} }, 405);
    await page.advance();
    const get = page.lastRequest;
    expect([get.method, get.cache, get.path, get.url.searchParams.getAll("feed"), get.after]).toEqual([
      "GET",
      "no-store",
      "/app/__web/poll",
      [room],
      "p.3",
    ]);
    get.respondJson({ events: [["room:1", "one"]], gaps: [], cursor: "p.4" });
    await page.waitForRequest();
    expect([page.lastRequest.method, page.lastRequest.after, received]).toEqual(["POST", "p.4", ["room: one"]]);
  });

  test("with more than 32 channels is repeated until a server responds that has POST", async () => {
    for (let n = 0; n < 33; n++) page.subscribe(unsignedFeed(`room:${n}`), record(`${n}`));
    await page.advance();
    for (let n = 0; n < 4; n++) {
      page.lastRequest.respondJson({ error: {} }, 405);
      await page.waitForRequest();
      expect([page.lastRequest.method, page.lastRequest.feeds.length]).toEqual(["POST", 33]);
    }
    while (page.lastRequest.path.endsWith("/poll")) {
      page.lastRequest.respondJson({ error: {} }, 405);
      await page.waitForRequest();
    }
    page.lastRequest.respondStream().push(encodeEvent.message("32=p.1", "room:32", "one"));
    await page.advance();
    expect(received).toEqual(["32: one"]);
  });

  test("has an id with the positions that have moved, also in a ping", async () => {
    page.subscribe(room, record("room"));
    page.subscribe(news, record("news"));
    await page.advance();
    page.lastRequest.respondStream().push(encodeEvent.message("1=p.8", "news", "one"));
    page.lastRequest.push("id: 0=p.5\nevent: ping\ndata: 1\n\n");
    await page.advance();
    page.lastRequest.breakConnection();
    await page.waitForRequest();
    expect([page.lastRequest.after, received]).toEqual(["p.5,p.8", ["news: one"]]);
  });

  test("is replaced by a new one, from the current positions, when a subscription is added", async () => {
    page.subscribe(room, record("room"));
    await page.advance();
    const first = page.lastRequest.respondStream().push(encodeEvent.message("p.4", "room:1", "one"));
    await page.advance();
    page.subscribe(news, record("news"));
    await page.advance();
    expect(first.signal.aborted).toBe(true);
    expect(page.requests.length).toBe(2);
    expect(page.lastRequest.feeds).toEqual([room, news]);
    expect(page.lastRequest.after).toBe("p.4,p.7");
    page.lastRequest
      .respondStream()
      .push(encodeEvent.message("p.5,p.7", "room:1", "two") + encodeEvent.message("p.5,p.8", "news", "three"));
    await page.advance();
    expect(received).toEqual(["room: one", "room: two", "news: three"]);
  });

  test("has fewer feeds when a subscription is stopped, and ends with the last one", async () => {
    const stopRoom = page.subscribe(room, record("room"));
    const stopNews = page.subscribe(news, record("news"));
    await page.advance();
    stopRoom();
    stopRoom();
    await page.advance();
    expect(page.requests.length).toBe(2);
    expect(page.lastRequest.feeds).toEqual([news]);
    stopNews();
    await page.advance(300_000);
    expect(page.requests.map((request) => request.signal.aborted)).toEqual([true, true]);
  });

  test("is not sent if the subscription is stopped in the same task", async () => {
    page.subscribe(room, record("room"))();
    await page.advance(300_000);
    expect(page.requests).toEqual([]);
  });

  test("has 256 channels at most; the 257th subscription throws and changes nothing", async () => {
    for (let n = 0; n < 255; n++) page.subscribe(unsignedFeed(`room:${n}`), record(`${n}`));
    page.subscribe(unsignedFeed("room:255"), record("255"));
    page.subscribe(unsignedFeed("room:255"), record("the same channel"));
    await page.advance();
    page.lastRequest.respondStream();
    const rangeError = new RangeError("At most 256 channels per page");
    expect(() => page.subscribe(unsignedFeed("room:256"), record("256"))).toThrow(rangeError);
    await page.advance(1000);
    expect(page.requests.length).toBe(1);
    page.lastRequest.breakConnection();
    await page.waitForRequest();
    expect(page.lastRequest.feeds.length).toBe(256);
    expect(page.lastRequest.feeds).not.toContain(unsignedFeed("room:256"));
  });

  test("is not sent for a string that is not a feed", () => {
    const text = "room:1" as typeof room;
    expect(() => page.subscribe(text, record("a"))).toThrow(
      'subscribe() needs a feed of channel(), and received "room:1". Create the feed in the page, and pass it to the view as a prop: `feed={await channel("room:1")}`.',
    );
    expect(() => page.subscribe(undefined as unknown as typeof room, record("a"))).toThrow(
      "and received a value of type undefined.",
    );
  });
});

describe("a message", () => {
  test("is delivered to all listeners of its channel and to no other", async () => {
    page.subscribe(room, record("a"));
    page.subscribe(news, record("b"));
    page.subscribe(room, record("c"));
    await page.advance();
    page.lastRequest.respondStream().push(encodeEvent.message("p.4,p.7", "room:1", "hello"));
    await page.advance();
    expect(received).toEqual(["a: hello", "c: hello"]);
  });

  test("can be any JSON, in chunks that are cut anywhere", async () => {
    page.subscribe(room, (message) => received.push(message));
    await page.advance();
    page.lastRequest.respondStream();
    const messages = [{ a: "é\u2028\n" }, null, "", 0, [1]];
    for (const character of messages
      .map((message, n) => encodeEvent.message(`p.${n + 4}`, "room:1", message))
      .join("")) {
      page.lastRequest.push(character);
    }
    await page.advance();
    expect(received).toEqual(messages);
  });

  test("is rendered together with the other messages of the same chunk", async () => {
    const { state } = await import("./state.ts");
    const root = new TextRoot();
    let renderings = 0;
    let shown = { texts: [] as unknown[] };
    root.renderComponent(() => {
      renderings += 1;
      shown = state({ texts: [] as unknown[] });
      return shown.texts.join();
    });
    page.subscribe(room, (message) => shown.texts.push(message));
    await page.advance();
    page.lastRequest.respondStream().push([4, 5, 6].map((n) => encodeEvent.message(`p.${n}`, "room:1", n)).join(""));
    await page.advance();
    await nextRender();
    expect(root.text).toBe("4,5,6");
    expect(renderings).toBe(2);
  });

  test("is delivered to the other listeners if a handler throws, and so is the next", async () => {
    const error = new Error("an error of the page");
    page.subscribe(room, (message) => {
      received.push(`bad: ${message}`);
      throw error;
    });
    page.subscribe(room, record("good"));
    await page.advance();
    page.lastRequest
      .respondStream()
      .push(encodeEvent.message("p.4", "room:1", 1) + encodeEvent.message("p.5", "room:1", 2));
    await page.advance();
    expect(received).toEqual(["bad: 1", "good: 1", "bad: 2", "good: 2"]);
    expect(page.reportedErrors).toEqual([error, error]);
    expect(page.requests.length).toBe(1);
  });

  test("is delivered after the position of the listener has moved", async () => {
    const stop = page.subscribe(room, (message) => {
      received.push(message);
      page.subscribe(news, record("news"));
      stop();
      page.subscribe(unsignedFeed("room:1", { position: "p.4" }), record("again"));
    });
    await page.advance();
    page.lastRequest.respondStream().push(encodeEvent.message("p.4", "room:1", "once"));
    await page.advance();
    expect(received).toEqual(["once"]);
    expect(page.lastRequest.after).toBe("p.7,p.4");
  });

  test("is not delivered to a listener that an earlier handler has stopped", async () => {
    page.subscribe(room, () => stop());
    const stop = page.subscribe(room, record("stopped"));
    await page.advance();
    page.lastRequest
      .respondStream()
      .push(encodeEvent.message("p.4", "room:1", 1) + encodeEvent.message("p.5", "room:1", 2));
    await page.advance();
    expect(received).toEqual([]);
  });

  test("from a connection that is about to be replaced is delivered once", async () => {
    page.subscribe(room, record("room"));
    await page.advance();
    const old = page.lastRequest.respondStream();
    page.subscribe(news, record("news"));
    old.push(encodeEvent.message("p.4", "room:1", "one"));
    await page.advance();
    expect(page.lastRequest.after).toBe("p.4,p.7");
    page.lastRequest.respondStream().push(encodeEvent.message("p.4,p.7", "room:1", "one"));
    await page.advance();
    expect(received).toEqual(["room: one"]);
  });

  test("that was delivered already is not delivered again", async () => {
    page.subscribe(room, record("room"));
    await page.advance();
    page.lastRequest
      .respondStream()
      .push(encodeEvent.message("p.9", "room:1", "nine") + encodeEvent.message("p.10", "room:1", "ten"));
    page.lastRequest.push(
      encodeEvent.message("p.9", "room:1", "nine") + encodeEvent.message("p.11", "room:1", "eleven"),
    );
    await page.advance();
    expect(received).toEqual(["room: nine", "room: ten", "room: eleven"]);
  });
});

describe("a later listener of the same channel", () => {
  const messages = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => encodeEvent.message(`p.${from + n}`, "room:1", from + n)).join("");

  test("receives every message since the feed was issued from an event stream, and the others none twice", async () => {
    page.subscribe(room, record("early"));
    await page.advance();
    page.lastRequest.respondStream().push(messages(4, 5));
    await page.advance();
    page.subscribe(room, record("late"));
    await page.advance();
    expect(page.lastRequest.feeds).toEqual([room]);
    expect(page.lastRequest.after).toBe("p.3");
    page.lastRequest.respondStream().push(messages(4, 6));
    await page.advance();
    expect(received).toEqual([...["early: 4", "early: 5"], ...["late: 4", "late: 5"], ...["early: 6", "late: 6"]]);
  });

  test("does not receive the rest of the chunk in which it subscribed before the earlier messages", async () => {
    let isFirst = true;
    page.subscribe(room, (message) => {
      received.push(`early: ${message}`);
      if (isFirst) page.subscribe(room, record("late"));
      isFirst = false;
    });
    await page.advance();
    page.lastRequest.respondStream().push(messages(4, 5));
    await page.advance();
    expect(page.lastRequest.after).toBe("p.3");
    page.lastRequest.respondStream().push(messages(4, 5));
    await page.advance();
    expect(received).toEqual(["early: 4", "early: 5", "late: 4", "late: 5"]);
  });

  test("receives every message since the feed was issued from polls", async () => {
    page.subscribe(room, record("early"));
    await page.advance();
    page.lastRequest.fail();
    await page.waitForRequest();
    page.lastRequest.fail();
    await page.waitForRequest();
    expect(page.lastRequest.path).toBe("/app/__web/poll");
    page.lastRequest.respondJson({ events: [["room:1", 4]], gaps: [], cursor: "p.4" });
    await page.advance();
    page.subscribe(room, record("late"));
    await page.advance();
    expect(page.lastRequest.after).toBe("p.3");
    const both = {
      events: [
        ["room:1", 4],
        ["room:1", 5],
      ],
      gaps: [],
      cursor: "p.5",
    };
    page.lastRequest.respondJson(both);
    await page.waitForRequest();
    expect(received).toEqual(["early: 4", "late: 4", "late: 5"]);
    expect(page.lastRequest.after).toBe("p.4");
    page.lastRequest.respondJson({ events: [["room:1", 5]], gaps: [], cursor: "p.5" });
    await page.waitForRequest();
    expect(page.lastRequest.after).toBe("p.5");
    page.lastRequest.respondJson({ events: [["room:1", 6]], gaps: [], cursor: "p.6" });
    await page.advance();
    expect(received.slice(3)).toEqual(["early: 5", "early: 6", "late: 6"]);
  });

  test("with a newer feed receives only the messages after that feed", async () => {
    page.subscribe(room, record("early"));
    page.subscribe(unsignedFeed("room:1", { position: "p.5" }), record("late"));
    await page.advance();
    expect(page.lastRequest.feeds).toEqual([room]);
    page.lastRequest.respondStream().push(messages(4, 6));
    await page.advance();
    expect(received).toEqual(["early: 4", "early: 5", "early: 6", "late: 6"]);
  });
});

describe("a subscription in on_mount", () => {
  test("ends with the component, whether on_mount returns it or not", async () => {
    const { on_mount } = await import("./lifecycle.ts");
    const root = new TextRoot();
    const Inner = () => {
      on_mount(() => page.subscribe(news, record("returned")));
      return "inner";
    };
    root.renderComponent(() => {
      on_mount(() => {
        page.subscribe(room, record("not returned"));
      });
      return [h(Inner, {})];
    });
    await page.advance();
    expect(page.lastRequest.feeds).toEqual([news, room]);
    root.renderComponent(null);
    await page.advance();
    expect(page.lastRequest.signal.aborted).toBe(true);
    expect(page.requests.length).toBe(1);
  });

  test("does not end with a component if it was started elsewhere", async () => {
    const { on_mount } = await import("./lifecycle.ts");
    const root = new TextRoot();
    root.renderComponent(() => {
      on_mount(() => received.push("mounted"));
      return "shown";
    });
    page.subscribe(room, record("room"));
    await page.advance();
    root.renderComponent(null);
    await page.advance();
    expect(received).toEqual(["mounted"]);
    expect(page.lastRequest.signal.aborted).toBe(false);
  });
});

import { h } from "preact";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { feedOf } from "#test/live-feed";
import { LivePage, say } from "#test/live-page";
import { rendered, TextRoot } from "#test/text-root";

const room = feedOf<string>("room:1", { position: "p.3" });
const news = feedOf<string>("news", { position: "p.7" });

let page: LivePage;
let seen: unknown[];

beforeEach(async () => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0);
  page = await LivePage.open({ base: "/app" });
  seen = [];
});

afterEach(() => {
  expect(page.said).toEqual([]);
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const note = (name: string) => (message: unknown) => seen.push(`${name}: ${message}`);

describe("what is asked for", () => {
  test("is one stream, whatever was subscribed to in one go", async () => {
    page.subscribe(room, note("a"));
    page.subscribe(news, note("b"));
    page.subscribe(room, note("c"));
    expect(page.requests).toEqual([]);
    await page.pass();
    expect(page.requests.length).toBe(1);
    expect(page.last.kind).toBe("/app/__web/live");
    expect(page.last.feeds).toEqual([room, news]);
    expect(page.last.after).toBe("p.3,p.7");
  });

  test("is everything anew, from where each has come, when one more is subscribed to", async () => {
    page.subscribe(room, note("room"));
    await page.pass();
    const first = page.last.open().push(say.message("p.4", "room:1", "one"));
    await page.pass();
    page.subscribe(news, note("news"));
    await page.pass();
    expect(first.aborted.aborted).toBe(true);
    expect(page.requests.length).toBe(2);
    expect(page.last.feeds).toEqual([room, news]);
    expect(page.last.after).toBe("p.4,p.7");
    page.last.open().push(say.message("p.5,p.7", "room:1", "two") + say.message("p.5,p.8", "news", "three"));
    await page.pass();
    expect(seen).toEqual(["room: one", "room: two", "news: three"]);
  });

  test("is less when one is stopped, and nothing once all are", async () => {
    const stopRoom = page.subscribe(room, note("room"));
    const stopNews = page.subscribe(news, note("news"));
    await page.pass();
    stopRoom();
    stopRoom();
    await page.pass();
    expect(page.requests.length).toBe(2);
    expect(page.last.feeds).toEqual([news]);
    stopNews();
    await page.pass(300_000);
    expect(page.requests.map((request) => request.aborted.aborted)).toEqual([true, true]);
  });

  test("is nothing at all when what was started is stopped in the same go", async () => {
    page.subscribe(room, note("room"))();
    await page.pass(300_000);
    expect(page.requests).toEqual([]);
  });

  test("is 32 channels at most; the 33rd changes nothing", async () => {
    for (let n = 0; n < 31; n++) page.subscribe(feedOf(`room:${n}`), note(`${n}`));
    page.subscribe(feedOf("room:31"), note("31"));
    page.subscribe(feedOf("room:31"), note("the same channel"));
    await page.pass();
    page.last.open();
    const refusal = new RangeError("At most 32 channels per page");
    expect(() => page.subscribe(feedOf("room:32"), note("32"))).toThrow(refusal);
    await page.pass(1000);
    expect(page.requests.length).toBe(1);
    page.last.cut();
    await page.untilAsked();
    expect(page.last.feeds.length).toBe(32);
    expect(page.last.feeds).not.toContain(feedOf("room:32"));
  });

  test("is never what is no feed", () => {
    const text = "room:1" as typeof room;
    expect(() => page.subscribe(text, note("a"))).toThrow("subscribe() needs a feed of channel()");
  });
});

describe("a message", () => {
  test("goes to all who listen to its channel, and to nobody else", async () => {
    page.subscribe(room, note("a"));
    page.subscribe(news, note("b"));
    page.subscribe(room, note("c"));
    await page.pass();
    page.last.open().push(say.message("p.4,p.7", "room:1", "hello"));
    await page.pass();
    expect(seen).toEqual(["a: hello", "c: hello"]);
  });

  test("is any JSON, cut anywhere", async () => {
    page.subscribe(room, (message) => seen.push(message));
    await page.pass();
    page.last.open();
    const data = [{ a: "é\u2028\n" }, null, "", 0, [1]];
    for (const character of data.map((one, n) => say.message(`p.${n + 4}`, "room:1", one)).join("")) {
      page.last.push(character);
    }
    await page.pass();
    expect(seen).toEqual(data);
  });

  test("is handled in one go with all that came in the same chunk, and rendered once", async () => {
    const { state } = await import("./state.ts");
    const root = new TextRoot();
    let renderings = 0;
    let shown = { texts: [] as unknown[] };
    root.show(() => {
      renderings += 1;
      shown = state({ texts: [] as unknown[] });
      return shown.texts.join();
    });
    page.subscribe(room, (message) => shown.texts.push(message));
    await page.pass();
    page.last.open().push([4, 5, 6].map((n) => say.message(`p.${n}`, "room:1", n)).join(""));
    await page.pass();
    await rendered();
    expect(root.text).toBe("4,5,6");
    expect(renderings).toBe(2);
  });

  test("whose handler throws reaches the others, and so does the next", async () => {
    const mistake = new Error("a mistake of the page");
    page.subscribe(room, (message) => {
      seen.push(`bad: ${message}`);
      throw mistake;
    });
    page.subscribe(room, note("good"));
    await page.pass();
    page.last.open().push(say.message("p.4", "room:1", 1) + say.message("p.5", "room:1", 2));
    await page.pass();
    expect(seen).toEqual(["bad: 1", "good: 1", "bad: 2", "good: 2"]);
    expect(page.reported).toEqual([mistake, mistake]);
    expect(page.requests.length).toBe(1);
  });

  test("has moved the cursor before it is handled", async () => {
    const stop = page.subscribe(room, (message) => {
      seen.push(message);
      page.subscribe(news, note("news"));
      stop();
      page.subscribe(feedOf("room:1", { position: "p.4" }), note("again"));
    });
    await page.pass();
    page.last.open().push(say.message("p.4", "room:1", "once"));
    await page.pass();
    expect(seen).toEqual(["once"]);
    expect(page.last.after).toBe("p.7,p.4");
  });

  test("is not for a handler that was stopped by one before it, in the same go", async () => {
    page.subscribe(room, () => stop());
    const stop = page.subscribe(room, note("stopped"));
    await page.pass();
    page.last.open().push(say.message("p.4", "room:1", 1) + say.message("p.5", "room:1", 2));
    await page.pass();
    expect(seen).toEqual([]);
  });

  test("of a connection that was replaced is left to the one that replaces it", async () => {
    page.subscribe(room, note("room"));
    await page.pass();
    const old = page.last.open();
    page.subscribe(news, note("news"));
    old.push(say.message("p.4", "room:1", "one"));
    await page.pass();
    expect(page.last.after).toBe("p.3,p.7");
    page.last.open().push(say.message("p.4,p.7", "room:1", "one"));
    await page.pass();
    expect(seen).toEqual(["room: one"]);
  });

  test("that was had already is not handled again", async () => {
    page.subscribe(room, note("room"));
    await page.pass();
    page.last.open().push(say.message("p.9", "room:1", "nine") + say.message("p.10", "room:1", "ten"));
    page.last.push(say.message("p.9", "room:1", "nine") + say.message("p.11", "room:1", "eleven"));
    await page.pass();
    expect(seen).toEqual(["room: nine", "room: ten", "room: eleven"]);
  });
});

describe("one who comes later to the same feed", () => {
  const messages = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => say.message(`p.${from + n}`, "room:1", from + n)).join("");

  test("gets all since it was issued, on a stream, and the others nothing twice", async () => {
    page.subscribe(room, note("early"));
    await page.pass();
    page.last.open().push(messages(4, 5));
    await page.pass();
    page.subscribe(room, note("late"));
    await page.pass();
    expect(page.last.feeds).toEqual([room]);
    expect(page.last.after).toBe("p.3");
    page.last.open().push(messages(4, 6));
    await page.pass();
    expect(seen).toEqual([...["early: 4", "early: 5"], ...["late: 4", "late: 5"], ...["early: 6", "late: 6"]]);
  });

  test("gets no part of what was in the same chunk as the message that made it come", async () => {
    let isFirst = true;
    page.subscribe(room, (message) => {
      seen.push(`early: ${message}`);
      if (isFirst) page.subscribe(room, note("late"));
      isFirst = false;
    });
    await page.pass();
    page.last.open().push(messages(4, 5));
    await page.pass();
    expect(page.last.after).toBe("p.3");
    page.last.open().push(messages(4, 5));
    await page.pass();
    expect(seen).toEqual(["early: 4", "early: 5", "late: 4", "late: 5"]);
  });

  test("gets all since it was issued, by polls too", async () => {
    page.subscribe(room, note("early"));
    await page.pass();
    page.last.fail();
    await page.untilAsked();
    page.last.fail();
    await page.untilAsked();
    expect(page.last.kind).toBe("/app/__web/poll");
    page.last.json({ events: [["room:1", 4]], gaps: [], cursor: "p.4" });
    await page.pass();
    page.subscribe(room, note("late"));
    await page.pass();
    expect(page.last.after).toBe("p.3");
    const both = {
      events: [
        ["room:1", 4],
        ["room:1", 5],
      ],
      gaps: [],
      cursor: "p.5",
    };
    page.last.json(both);
    await page.untilAsked();
    expect(seen).toEqual(["early: 4", "late: 4", "late: 5"]);
    expect(page.last.after).toBe("p.4");
    page.last.json({ events: [["room:1", 5]], gaps: [], cursor: "p.5" });
    await page.untilAsked();
    expect(page.last.after).toBe("p.5");
    page.last.json({ events: [["room:1", 6]], gaps: [], cursor: "p.6" });
    await page.pass();
    expect(seen.slice(3)).toEqual(["early: 5", "early: 6", "late: 6"]);
  });

  test("with a feed of its own that is newer waits in it for what is new to it", async () => {
    page.subscribe(room, note("early"));
    page.subscribe(feedOf("room:1", { position: "p.5" }), note("late"));
    await page.pass();
    expect(page.last.feeds).toEqual([room]);
    page.last.open().push(messages(4, 6));
    await page.pass();
    expect(seen).toEqual(["early: 4", "early: 5", "early: 6", "late: 6"]);
  });
});

describe("what on_mount starts", () => {
  test("ends with the component, returned or not", async () => {
    const { on_mount } = await import("./lifecycle.ts");
    const root = new TextRoot();
    const Inner = () => {
      on_mount(() => page.subscribe(news, note("returned")));
      return "inner";
    };
    root.show(() => {
      on_mount(() => {
        page.subscribe(room, note("not returned"));
      });
      return [h(Inner, {})];
    });
    await page.pass();
    expect(page.last.feeds).toEqual([news, room]);
    root.show(null);
    await page.pass();
    expect(page.last.aborted.aborted).toBe(true);
    expect(page.requests.length).toBe(1);
  });

  test("does not end with it when it was started elsewhere", async () => {
    const { on_mount } = await import("./lifecycle.ts");
    const root = new TextRoot();
    root.show(() => {
      on_mount(() => seen.push("mounted"));
      return "shown";
    });
    page.subscribe(room, note("room"));
    await page.pass();
    root.show(null);
    await page.pass();
    expect(seen).toEqual(["mounted"]);
    expect(page.last.aborted.aborted).toBe(false);
  });
});

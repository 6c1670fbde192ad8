import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { feedOf } from "#test/live-feed";
import { LivePage, type LiveRequest, type PageOptions, say } from "#test/live-page";

const room = feedOf("room:1", { position: "p.3" });

let page: LivePage;
let seen: unknown[];

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0);
  seen = [];
});

afterEach(() => {
  expect(page.said).toEqual([]);
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Opens a page whose stream is open, and has had a message. */
async function streaming(options: PageOptions): Promise<LiveRequest> {
  page = await LivePage.open(options);
  page.subscribe(room, (message) => seen.push(message));
  await page.pass();
  const request = page.last.open().push(say.message("p.4", "room:1", 4));
  await page.pass();
  return request;
}

const nothing = { events: [], gaps: [], cursor: "p.4" };

describe("on HTTP/1.1", () => {
  test.each(["http/1.1", "http/1.0"])("a page hidden for 2 seconds gives its stream back (%s)", async (protocol) => {
    const request = await streaming({ protocol });
    page.hide();
    await page.pass(1_999);
    expect(request.aborted.aborted).toBe(false);
    await page.pass(10);
    expect(request.aborted.aborted).toBe(true);
    expect([page.last.kind, page.last.after, page.last.wait]).toEqual(["/__web/poll", "p.4", "0"]);
  });

  test("it asks every 30 seconds then, also when that fails", async () => {
    await streaming({ protocol: "http/1.1" });
    page.hide();
    await page.pass(2_010);
    page.last.json({ events: [["room:1", 5]], gaps: [], cursor: "p.5" });
    for (const cursor of ["p.5", "p.5", "p.5"]) {
      const waited = await page.untilAsked();
      expect(waited).toBeGreaterThan(29_900);
      expect(waited).toBeLessThan(30_100);
      expect([page.last.kind, page.last.after, page.last.wait]).toEqual(["/__web/poll", cursor, "0"]);
      page.last.fail();
    }
    expect(seen).toEqual([4, 5]);
  });

  test("it asks on at once while answers are full, so that a busy channel does not run away from it", async () => {
    await streaming({ protocol: "http/1.1" });
    page.hide();
    await page.pass(2_010);
    for (const n of [5, 6]) {
      page.last.json({ events: [["room:1", n]], gaps: [], cursor: `p.${n}`, more: true });
      expect(await page.untilAsked()).toBeLessThan(1_100);
      expect([page.last.kind, page.last.after, page.last.wait]).toEqual(["/__web/poll", `p.${n}`, "0"]);
    }
    page.last.json({ events: [["room:1", 7]], gaps: [], cursor: "p.7" });
    expect(await page.untilAsked()).toBeGreaterThan(29_900);
    expect(seen).toEqual([4, 5, 6, 7]);
  });

  test("looked at again it streams at once, and has missed nothing", async () => {
    await streaming({ protocol: "http/1.1" });
    page.hide();
    await page.pass(2_010);
    page.last.json(nothing);
    await page.pass(100_000);
    page.last.json(nothing);
    await page.pass(1000);
    page.show();
    await page.pass();
    expect([page.last.kind, page.last.after]).toEqual(["/__web/live", "p.4"]);
    page.last.open().push(say.message("p.5", "room:1", 5));
    await page.pass();
    expect(seen).toEqual([4, 5]);
  });

  test("looked at again while a poll is under way, it streams at once too", async () => {
    await streaming({ protocol: "http/1.1" });
    page.hide();
    await page.pass(2_010);
    const poll = page.last;
    page.show();
    await page.pass();
    expect(poll.aborted.aborted).toBe(true);
    expect(page.last.kind).toBe("/__web/live");
  });

  test("hidden for less, it keeps its stream", async () => {
    const request = await streaming({ protocol: "http/1.1" });
    for (let n = 0; n < 5; n++) {
      page.hide();
      await page.pass(1_900);
      page.show();
      request.push(say.ping);
      await page.pass(1000);
    }
    expect(page.requests).toEqual([request]);
  });

  test("opened out of sight, it takes no stream before it is looked at", async () => {
    page = await LivePage.open({ protocol: "http/1.1", hidden: true });
    page.subscribe(room, (message) => seen.push(message));
    await page.pass(10);
    expect(page.requests.map(({ kind, wait }) => [kind, wait])).toEqual([["/__web/poll", "0"]]);
    page.last.json({ events: [["room:1", 4]], gaps: [], cursor: "p.4" });
    await page.pass(1000);
    page.show();
    await page.pass();
    expect([page.last.kind, page.last.after]).toEqual(["/__web/live", "p.4"]);
    expect(seen).toEqual([4]);
  });

  test("back online while hidden, it does not take the stream again", async () => {
    await streaming({ protocol: "http/1.1" });
    page.hide();
    await page.pass(2_010);
    page.last.fail();
    await page.pass(1000);
    page.emit("online");
    await page.pass();
    expect([page.last.kind, page.last.wait]).toEqual(["/__web/poll", "0"]);
  });
});

test.each(["h2", "h3", ""])("on %s a hidden page keeps its stream", async (protocol) => {
  const request = await streaming({ protocol });
  page.hide();
  for (let n = 0; n < 10; n++) {
    await page.pass(20_000);
    request.push(say.ping);
  }
  page.show();
  await page.pass();
  expect(page.requests).toEqual([request]);
});

describe("a page that is back", () => {
  test("from sleep opens its stream again, though no timer has noticed", async () => {
    const request = await streaming({ protocol: "h2" });
    vi.setSystemTime(Date.now() + 3_600_000);
    page.hide();
    page.show();
    await page.pass();
    expect(request.aborted.aborted).toBe(true);
    expect([page.last.kind, page.last.after]).toEqual(["/__web/live", "p.4"]);
  });

  test("online tries at once, by a stream, however long it would have waited", async () => {
    await streaming({ protocol: "h2" });
    page.last.cut();
    for (let n = 0; n < 8; n++) {
      await page.untilAsked();
      page.last.fail();
    }
    await page.pass(100);
    const asked = page.requests.length;
    page.emit("online");
    await page.pass();
    expect(page.requests.length).toBe(asked + 1);
    expect([page.last.kind, page.last.after]).toEqual(["/__web/live", "p.4"]);
  });

  test("from where the browser keeps pages has let its connection go, and streams again", async () => {
    const request = await streaming({ protocol: "h2" });
    page.emit("pagehide", { persisted: true });
    await page.pass(300_000);
    expect(request.aborted.aborted).toBe(true);
    expect(page.requests.length).toBe(1);
    page.emit("pageshow", { persisted: true });
    await page.pass();
    expect([page.last.kind, page.last.after]).toEqual(["/__web/live", "p.4"]);
  });
});

test("a page that is shown for the first time asks once", async () => {
  page = await LivePage.open();
  page.subscribe(room, () => {});
  await page.pass();
  page.emit("pageshow", { persisted: false });
  await page.pass(1000);
  expect(page.requests.length).toBe(1);
});

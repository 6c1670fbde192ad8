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

/** Opens a page with an open event stream that has received a message. */
async function streaming(options: PageOptions): Promise<LiveRequest> {
  page = await LivePage.open(options);
  page.subscribe(room, (message) => seen.push(message));
  await page.pass();
  const request = page.last.open().push(say.message("p.4", "room:1", 4));
  await page.pass();
  return request;
}

const emptyResponse = { events: [], gaps: [], cursor: "p.4" };

describe("a page on HTTP/1.x", () => {
  test.each(["http/1.1", "http/1.0"])(
    "ends its event stream after it was hidden for 2 seconds (%s)",
    async (protocol) => {
      const request = await streaming({ protocol });
      page.hide();
      await page.pass(1_999);
      expect(request.aborted.aborted).toBe(false);
      await page.pass(10);
      expect(request.aborted.aborted).toBe(true);
      expect([page.last.kind, page.last.after, page.last.wait]).toEqual(["/__web/poll", "p.4", "0"]);
    },
  );

  test("polls every 30 seconds while it is hidden, also if a poll fails", async () => {
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

  test("polls without the long delay while responses are full, to catch up with a busy channel", async () => {
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

  test("opens the event stream at once when it is visible again, and misses no message", async () => {
    await streaming({ protocol: "http/1.1" });
    page.hide();
    await page.pass(2_010);
    page.last.json(emptyResponse);
    await page.pass(100_000);
    page.last.json(emptyResponse);
    await page.pass(1000);
    page.show();
    await page.pass();
    expect([page.last.kind, page.last.after]).toEqual(["/__web/live", "p.4"]);
    page.last.open().push(say.message("p.5", "room:1", 5));
    await page.pass();
    expect(seen).toEqual([4, 5]);
  });

  test("aborts a pending poll and opens the event stream when it is visible again", async () => {
    await streaming({ protocol: "http/1.1" });
    page.hide();
    await page.pass(2_010);
    const poll = page.last;
    page.show();
    await page.pass();
    expect(poll.aborted.aborted).toBe(true);
    expect(page.last.kind).toBe("/__web/live");
  });

  test("keeps its event stream if it was hidden for less than 2 seconds", async () => {
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

  test("opens no event stream before it is visible, if it was opened in the background", async () => {
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

  test("keeps polling when the network returns while it is hidden", async () => {
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

test.each(["h2", "h3", ""])("a hidden page keeps its event stream on the protocol %j", async (protocol) => {
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

describe("a page that becomes active again", () => {
  test("opens its event stream again after the device slept, before any timer fires", async () => {
    const request = await streaming({ protocol: "h2" });
    vi.setSystemTime(Date.now() + 3_600_000);
    page.hide();
    page.show();
    await page.pass();
    expect(request.aborted.aborted).toBe(true);
    expect([page.last.kind, page.last.after]).toEqual(["/__web/live", "p.4"]);
  });

  test("opens an event stream at once when the network returns, regardless of the retry delay", async () => {
    await streaming({ protocol: "h2" });
    page.last.cut();
    for (let n = 0; n < 8; n++) {
      await page.untilAsked();
      page.last.fail();
    }
    await page.pass(100);
    const requestCount = page.requests.length;
    page.emit("online");
    await page.pass();
    expect(page.requests.length).toBe(requestCount + 1);
    expect([page.last.kind, page.last.after]).toEqual(["/__web/live", "p.4"]);
  });

  test("has closed its connection in the back/forward cache, and opens it again when it is restored", async () => {
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

test("a page sends one request when it is first shown", async () => {
  page = await LivePage.open();
  page.subscribe(room, () => {});
  await page.pass();
  page.emit("pageshow", { persisted: false });
  await page.pass(1000);
  expect(page.requests.length).toBe(1);
});

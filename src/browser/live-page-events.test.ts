import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeEvent, FakePage, type FakePageOptions, type PageRequest } from "#test/fake-page";
import { unsignedFeed } from "#test/unsigned-feed";

const room = unsignedFeed("room:1", { position: "p.3" });

let page: FakePage;
let received: unknown[];

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0);
  received = [];
});

afterEach(() => {
  expect(page.consoleErrors).toEqual([]);
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Opens a page with an open event stream that has received a message. */
async function openStreamingPage(options: FakePageOptions): Promise<PageRequest> {
  page = await FakePage.open(options);
  page.subscribe(room, (message) => received.push(message));
  await page.advance();
  const request = page.lastRequest.respondStream().push(encodeEvent.message("p.4", "room:1", 4));
  await page.advance();
  return request;
}

const emptyResponse = { events: [], gaps: [], cursor: "p.4" };

describe("a page on HTTP/1.x", () => {
  test.each(["http/1.1", "http/1.0"])(
    "ends its event stream after it was hidden for 2 seconds (%s)",
    async (protocol) => {
      const request = await openStreamingPage({ protocol });
      page.hide();
      await page.advance(1_999);
      expect(request.signal.aborted).toBe(false);
      await page.advance(10);
      expect(request.signal.aborted).toBe(true);
      expect([page.lastRequest.path, page.lastRequest.after, page.lastRequest.wait]).toEqual([
        "/__web/poll",
        "p.4",
        "0",
      ]);
    },
  );

  test("polls every 30 seconds while it is hidden, also if a poll fails", async () => {
    await openStreamingPage({ protocol: "http/1.1" });
    page.hide();
    await page.advance(2_010);
    page.lastRequest.respondJson({ events: [["room:1", 5]], gaps: [], cursor: "p.5" });
    for (const cursor of ["p.5", "p.5", "p.5"]) {
      const waited = await page.waitForRequest();
      expect(waited).toBeGreaterThan(29_900);
      expect(waited).toBeLessThan(30_100);
      expect([page.lastRequest.path, page.lastRequest.after, page.lastRequest.wait]).toEqual([
        "/__web/poll",
        cursor,
        "0",
      ]);
      page.lastRequest.fail();
    }
    expect(received).toEqual([4, 5]);
  });

  test("polls without the long delay while responses are full, to catch up with a busy channel", async () => {
    await openStreamingPage({ protocol: "http/1.1" });
    page.hide();
    await page.advance(2_010);
    for (const n of [5, 6]) {
      page.lastRequest.respondJson({ events: [["room:1", n]], gaps: [], cursor: `p.${n}`, more: true });
      expect(await page.waitForRequest()).toBeLessThan(1_100);
      expect([page.lastRequest.path, page.lastRequest.after, page.lastRequest.wait]).toEqual([
        "/__web/poll",
        `p.${n}`,
        "0",
      ]);
    }
    page.lastRequest.respondJson({ events: [["room:1", 7]], gaps: [], cursor: "p.7" });
    expect(await page.waitForRequest()).toBeGreaterThan(29_900);
    expect(received).toEqual([4, 5, 6, 7]);
  });

  test("opens the event stream at once when it is visible again, and misses no message", async () => {
    await openStreamingPage({ protocol: "http/1.1" });
    page.hide();
    await page.advance(2_010);
    page.lastRequest.respondJson(emptyResponse);
    await page.advance(100_000);
    page.lastRequest.respondJson(emptyResponse);
    await page.advance(1000);
    page.show();
    await page.advance();
    expect([page.lastRequest.path, page.lastRequest.after]).toEqual(["/__web/live", "p.4"]);
    page.lastRequest.respondStream().push(encodeEvent.message("p.5", "room:1", 5));
    await page.advance();
    expect(received).toEqual([4, 5]);
  });

  test("aborts a pending poll and opens the event stream when it is visible again", async () => {
    await openStreamingPage({ protocol: "http/1.1" });
    page.hide();
    await page.advance(2_010);
    const poll = page.lastRequest;
    page.show();
    await page.advance();
    expect(poll.signal.aborted).toBe(true);
    expect(page.lastRequest.path).toBe("/__web/live");
  });

  test("keeps its event stream if it was hidden for less than 2 seconds", async () => {
    const request = await openStreamingPage({ protocol: "http/1.1" });
    for (let n = 0; n < 5; n++) {
      page.hide();
      await page.advance(1_900);
      page.show();
      request.push(encodeEvent.ping);
      await page.advance(1000);
    }
    expect(page.requests).toEqual([request]);
  });

  test("opens no event stream before it is visible, if it was opened in the background", async () => {
    page = await FakePage.open({ protocol: "http/1.1", hidden: true });
    page.subscribe(room, (message) => received.push(message));
    await page.advance(10);
    expect(page.requests.map(({ path: kind, wait }) => [kind, wait])).toEqual([["/__web/poll", "0"]]);
    page.lastRequest.respondJson({ events: [["room:1", 4]], gaps: [], cursor: "p.4" });
    await page.advance(1000);
    page.show();
    await page.advance();
    expect([page.lastRequest.path, page.lastRequest.after]).toEqual(["/__web/live", "p.4"]);
    expect(received).toEqual([4]);
  });

  test("keeps polling when the network returns while it is hidden", async () => {
    await openStreamingPage({ protocol: "http/1.1" });
    page.hide();
    await page.advance(2_010);
    page.lastRequest.fail();
    await page.advance(1000);
    page.emit("online");
    await page.advance();
    expect([page.lastRequest.path, page.lastRequest.wait]).toEqual(["/__web/poll", "0"]);
  });
});

test.each(["h2", "h3", ""])("a hidden page keeps its event stream on the protocol %j", async (protocol) => {
  const request = await openStreamingPage({ protocol });
  page.hide();
  for (let n = 0; n < 10; n++) {
    await page.advance(20_000);
    request.push(encodeEvent.ping);
  }
  page.show();
  await page.advance();
  expect(page.requests).toEqual([request]);
});

describe("a page that becomes active again", () => {
  test("opens its event stream again after the device slept, before any timer fires", async () => {
    const request = await openStreamingPage({ protocol: "h2" });
    vi.setSystemTime(Date.now() + 3_600_000);
    page.hide();
    page.show();
    await page.advance();
    expect(request.signal.aborted).toBe(true);
    expect([page.lastRequest.path, page.lastRequest.after]).toEqual(["/__web/live", "p.4"]);
  });

  test("opens an event stream at once when the network returns, regardless of the retry delay", async () => {
    await openStreamingPage({ protocol: "h2" });
    page.lastRequest.breakConnection();
    for (let n = 0; n < 8; n++) {
      await page.waitForRequest();
      page.lastRequest.fail();
    }
    await page.advance(100);
    const requestCount = page.requests.length;
    page.emit("online");
    await page.advance();
    expect(page.requests.length).toBe(requestCount + 1);
    expect([page.lastRequest.path, page.lastRequest.after]).toEqual(["/__web/live", "p.4"]);
  });

  test("has closed its connection in the back/forward cache, and opens it again when it is restored", async () => {
    const request = await openStreamingPage({ protocol: "h2" });
    page.emit("pagehide", { persisted: true });
    await page.advance(300_000);
    expect(request.signal.aborted).toBe(true);
    expect(page.requests.length).toBe(1);
    page.emit("pageshow", { persisted: true });
    await page.advance();
    expect([page.lastRequest.path, page.lastRequest.after]).toEqual(["/__web/live", "p.4"]);
  });
});

test("a page sends one request when it is first shown", async () => {
  page = await FakePage.open();
  page.subscribe(room, () => {});
  await page.advance();
  page.emit("pageshow", { persisted: false });
  await page.advance(1000);
  expect(page.requests.length).toBe(1);
});

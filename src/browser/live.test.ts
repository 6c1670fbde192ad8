import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeEvent, FakePage, type PageRequest } from "#test/fake-page";
import { unsignedFeed } from "#test/unsigned-feed";

const room = unsignedFeed("room:1", { position: "p.3" });
const news = unsignedFeed("news", { position: "p.7" });

let page: FakePage;
let received: unknown[];

beforeEach(async () => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0);
  received = [];
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Opens a page with one subscription, and returns its request. */
async function openPage(options: Parameters<typeof FakePage.open>[0] = {}): Promise<PageRequest> {
  page = await FakePage.open(options);
  page.subscribe(room, (message) => received.push(message), { gap: (reason) => received.push(`gap: ${reason}`) });
  await page.advance();
  return page.lastRequest;
}

/** Opens a page whose event streams fail, and returns its first poll. */
async function openPollingPage(options: Parameters<typeof FakePage.open>[0] = {}): Promise<PageRequest> {
  (await openPage(options)).fail();
  await page.waitForRequest();
  page.lastRequest.fail();
  await page.waitForRequest();
  return page.lastRequest;
}

const emptyResponse = (cursor = "p.3") => ({ events: [], gaps: [], cursor });
const html = (status = 200) =>
  new Response("<p>Sign in to the hotel</p>", { status, headers: { "content-type": "text/html" } });

const STREAMING_503 = { status: 503, headers: { "content-type": "text/event-stream" } };

/** Responses to a request for an event stream that are not one. */
const NOT_A_STREAM: readonly (readonly [string, (request: PageRequest) => void])[] = [
  ["a network error", (request) => request.fail()],
  ["an HTML page of a proxy", (request) => request.respond(html())],
  ["another content type", (request) => request.respondStream({ type: "text/plain" })],
  ["no content type", (request) => request.respond(new Response(new Uint8Array()))],
  ["status 204", (request) => request.respond(new Response(null, { status: 204 }))],
  ["400", (request) => request.respondJson({ error: {} }, 400)],
  ["403 of a proxy", (request) => request.respond(html(403))],
  ["404", (request) => request.respondJson({ error: {} }, 404)],
  ["429", (request) => request.respondJson({ error: {} }, 429)],
  ["500", (request) => request.respond(html(500))],
  ["502", (request) => request.respond(html(502))],
  [
    "503 with the content type of an event stream",
    (request) => request.respond(new Response("id: p.4\ndata: room:1\ndata: 1\n\n", STREAMING_503)),
  ],
  ["a stream that is cut at once", (request) => request.respondStream().breakConnection()],
  ["a stream that ends at once", (request) => request.respondStream().endBody()],
  [
    "a stream with a message that is not JSON",
    (request) => request.respondStream().push("id: p.4\ndata: room:1\ndata: {\n\n"),
  ],
];

describe("an event stream that cannot be opened", () => {
  // Without the last one, which sends an event: that counts as a working connection.
  test.each(NOT_A_STREAM.slice(0, -1))("is tried once more, then the page polls: %s", async (_, fault) => {
    fault(await openPage());
    const waited = await page.waitForRequest();
    expect(waited).toBeGreaterThanOrEqual(2000 - 100);
    expect(waited).toBeLessThanOrEqual(4000 + 100);
    expect(page.lastRequest.path).toBe("/__web/live");
    fault(page.lastRequest);
    expect(await page.waitForRequest()).toBeLessThanOrEqual(50);
    expect(page.lastRequest.path).toBe("/__web/poll");
    expect([page.lastRequest.feeds, page.lastRequest.after, page.lastRequest.wait]).toEqual([[room], "p.3", "25"]);
    expect(received).toEqual([]);
    expect(page.consoleErrors).toEqual([]);
  });

  test.each(NOT_A_STREAM)("is aborted before the next attempt: %s", async (_, fault) => {
    const first = await openPage();
    fault(first);
    await page.waitForRequest();
    expect(first.signal.aborted).toBe(true);
  });

  test("is aborted after 10 seconds without data, then the page polls", async () => {
    const first = await openPage();
    await page.advance(9_999);
    expect(page.requests.length).toBe(1);
    await page.advance(1);
    expect(first.signal.aborted).toBe(true);
    expect(page.lastRequest.path).toBe("/__web/poll");
  });
});

describe("an event stream that was open", () => {
  test.each([
    ["ends", (request: PageRequest) => request.endBody()],
    ["is cut", (request: PageRequest) => request.breakConnection()],
  ])("and %s is opened again after the server's retry delay, from the last message", async (_, fault) => {
    for (let round = 4; round < 8; round++) {
      const request = round === 4 ? await openPage() : page.lastRequest;
      request.respondStream({ retry: 3000 }).push(encodeEvent.message(`p.${round}`, "room:1", round));
      await page.advance(1000);
      fault(request);
      const waited = await page.waitForRequest();
      expect(waited).toBeGreaterThan(2900);
      expect(waited).toBeLessThan(3100);
      expect([page.lastRequest.path, page.lastRequest.after]).toEqual(["/__web/live", `p.${round}`]);
    }
    expect(received).toEqual([4, 5, 6, 7]);
  });

  test("is opened again after a random delay", async () => {
    (await openPage()).respondStream({ retry: 3000 }).push(encodeEvent.ping);
    await page.advance();
    vi.spyOn(Math, "random").mockReturnValue(0.999);
    page.lastRequest.endBody();
    expect(await page.waitForRequest()).toBeLessThan(1700);
  });

  test("is opened again after the delay of the last ping, also if it is longer than the longest one of a failure", async () => {
    (await openPage()).respondStream({ retry: 3000 }).push(`retry: 50000\n${encodeEvent.ping}`);
    await page.advance();
    page.lastRequest.endBody();
    const waited = await page.waitForRequest();
    expect(waited).toBeGreaterThan(49_900);
    expect(waited).toBeLessThan(50_100);
  });

  test("is resumed before a message that was received in part", async () => {
    (await openPage()).respondStream().push(encodeEvent.message("p.4", "room:1", "whole"));
    page.lastRequest.push(encodeEvent.message("p.5", "room:1", "half").slice(0, -1));
    await page.advance();
    page.lastRequest.breakConnection();
    await page.waitForRequest();
    expect(page.lastRequest.after).toBe("p.4");
    expect(received).toEqual(["whole"]);
  });

  test("stays open while the server sends pings", async () => {
    const request = (await openPage()).respondStream();
    for (let n = 0; n < 30; n++) {
      await page.advance(20_000);
      request.push(encodeEvent.ping);
    }
    await page.advance();
    expect(page.requests.length).toBe(1);
  });

  test("is aborted after 45 seconds without data; the page polls and tries again after a minute", async () => {
    const request = (await openPage()).respondStream().push(encodeEvent.message("p.4", "room:1", 4));
    await page.advance(44_999);
    expect(request.signal.aborted).toBe(false);
    await page.advance(1);
    expect(request.signal.aborted).toBe(true);
    expect([page.lastRequest.path, page.lastRequest.after]).toEqual(["/__web/poll", "p.4"]);
    for (let waited = 0; page.lastRequest.path === "/__web/poll"; waited += 25_000) {
      expect(waited).toBeLessThan(90_000);
      await page.advance(25_000);
      page.lastRequest.respondJson(emptyResponse("p.4"));
      await page.advance(1000);
    }
    page.lastRequest.respondStream().push(encodeEvent.message("p.5", "room:1", 5));
    await page.advance();
    expect(received).toEqual([4, 5]);
  });

  test("with the position of a channel that it does not have is resumed from the cursor before, without loss", async () => {
    page = await FakePage.open();
    page.subscribe(room, (message) => received.push(message));
    page.subscribe(news, (message) => received.push(message));
    await page.advance();
    page.lastRequest.respondStream().push(encodeEvent.message("0=p.4,2=p.1", "room:1", 4));
    await page.waitForRequest();
    expect(page.lastRequest.after).toBe("p.3,p.7");
    page.lastRequest.respondStream().push(encodeEvent.message("p.4,p.7", "room:1", 4));
    await page.advance();
    expect(received).toEqual([4]);
  });

  test("stays open after an event of an unknown type whose data is not JSON, and delivers what follows", async () => {
    const request = (await openPage()).respondStream();
    request.push(`event: hint\ndata: room:1\ndata: {\n\n${encodeEvent.message("p.4", "room:1", 4)}`);
    await page.advance(10_000);
    expect([page.requests, received]).toEqual([[request], [4]]);
  });

  test("with a message that is not JSON is resumed before it, after a delay", async () => {
    (await openPage()).respondStream().push("id: p.4\ndata: room:1\ndata: {\n\n");
    expect(await page.waitForRequest()).toBeGreaterThan(900);
    expect(page.lastRequest.after).toBe("p.3");
  });
});

describe("a poll", () => {
  test("delivers its messages in order and is followed by a poll from its cursor", async () => {
    const poll = await openPollingPage();
    poll.respondJson({
      events: [
        ["room:1", 4],
        ["room:2", "another's"],
        ["room:1", { five: 5 }],
      ],
      gaps: [],
      cursor: "p.5",
    });
    const waited = await page.waitForRequest();
    expect(waited).toBeGreaterThan(400);
    expect(waited).toBeLessThan(1100);
    expect([page.lastRequest.path, page.lastRequest.after, page.lastRequest.wait]).toEqual([
      "/__web/poll",
      "p.5",
      "25",
    ]);
    expect(received).toEqual([4, { five: 5 }]);
  });

  test("is repeated after a delay even if every response is immediate", async () => {
    await openPollingPage();
    const start = Date.now();
    for (let n = 0; n < 20; n++) {
      page.lastRequest.respondJson({ events: [["room:1", n]], gaps: [], cursor: `p.${n + 10}` });
      await page.waitForRequest();
    }
    expect(received.length).toBe(20);
    expect(Date.now() - start).toBeGreaterThan(20 * 900);
  });

  test("is repeated for a minute; then one failed event stream is enough to poll again", async () => {
    await openPollingPage();
    const start = Date.now();
    while (page.lastRequest.path === "/__web/poll") {
      page.lastRequest.respondJson(emptyResponse());
      await page.waitForRequest();
    }
    expect(Date.now() - start).toBeGreaterThanOrEqual(59_000);
    expect(Date.now() - start).toBeLessThan(62_000);
    page.lastRequest.respond(html(403));
    expect(await page.waitForRequest()).toBeLessThanOrEqual(50);
    expect(page.lastRequest.path).toBe("/__web/poll");
  });

  test("is repeated for a minute again if the network returned, and event streams still fail", async () => {
    await openPollingPage();
    await page.advance(40_000);
    page.emit("online");
    for (let n = 0; n < 2; n++) {
      await page.waitForRequest();
      expect(page.lastRequest.path).toBe("/__web/live");
      page.lastRequest.fail();
    }
    await page.waitForRequest();
    const start = Date.now();
    while (page.lastRequest.path === "/__web/poll") {
      page.lastRequest.respondJson(emptyResponse());
      await page.waitForRequest();
    }
    expect(Date.now() - start).toBeGreaterThanOrEqual(59_000);
  });

  test("is replaced by an event stream after a minute, even if the clock is set back", async () => {
    await openPollingPage();
    vi.setSystemTime(Date.now() - 3_600_000);
    for (let polls = 0; page.lastRequest.path === "/__web/poll"; polls++) {
      expect(polls).toBeLessThan(4);
      await page.advance(25_000);
      page.lastRequest.respondJson(emptyResponse());
      await page.waitForRequest();
    }
  });

  test("is no longer used once an event stream has opened", async () => {
    await openPollingPage();
    while (page.lastRequest.path === "/__web/poll") {
      page.lastRequest.respondJson(emptyResponse());
      await page.waitForRequest();
    }
    page.lastRequest.respondStream().push(encodeEvent.message("p.4", "room:1", 4));
    await page.advance(30_000);
    page.lastRequest.push(encodeEvent.ping);
    await page.advance();
    page.lastRequest.endBody();
    await page.waitForRequest();
    expect([page.lastRequest.path, page.lastRequest.after]).toEqual(["/__web/live", "p.4"]);
  });

  test.each([
    ["a network error", (request: PageRequest) => request.fail()],
    ["an HTML page of a proxy", (request: PageRequest) => request.respond(html())],
    ["status 204", (request: PageRequest) => request.respond(new Response(null, { status: 204 }))],
    ["404", (request: PageRequest) => request.respondJson({ error: {} }, 404)],
    ["429", (request: PageRequest) => request.respondJson({ error: {} }, 429)],
    ["500", (request: PageRequest) => request.respond(html(500))],
    ["502", (request: PageRequest) => request.respond(html(502))],
    ["503", (request: PageRequest) => request.respondJson({ error: {} }, 503)],
    ["other JSON", (request: PageRequest) => request.respondJson({ ok: true })],
    ["null", (request: PageRequest) => request.respondJson(null)],
    [
      "a cursor of fewer channels",
      (request: PageRequest) => request.respondJson({ ...emptyResponse("p.5"), cursor: "" }),
    ],
  ])("that fails is repeated with growing delays: %s", async (_, fault) => {
    await openPollingPage();
    const waits: number[] = [];
    for (let n = 0; n < 12; n++) {
      fault(page.lastRequest);
      waits.push(await page.waitForRequest());
    }
    expect(waits[0]).toBeGreaterThan(400);
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_100);
    expect(received).toEqual([]);
    expect(page.consoleErrors).toEqual([]);
    while (page.lastRequest.path !== "/__web/poll") {
      page.lastRequest.fail();
      await page.waitForRequest();
    }
    page.lastRequest.respondJson({ events: [["room:1", "back"]], gaps: [], cursor: "p.4" });
    await page.advance();
    expect(received).toEqual(["back"]);
  });

  test("without a response is aborted after 45 seconds", async () => {
    const poll = await openPollingPage();
    await page.advance(44_900);
    expect(poll.signal.aborted).toBe(false);
    await page.advance(100);
    expect(poll.signal.aborted).toBe(true);
    await page.waitForRequest();
  });

  test("that is about to be replaced delivers, and the next one continues after it", async () => {
    const poll = await openPollingPage();
    page.subscribe(news, () => {});
    poll.respondJson({ events: [["room:1", 4]], gaps: [], cursor: "p.4" });
    await page.advance();
    expect(received).toEqual([4]);
    expect([page.lastRequest.feeds, page.lastRequest.after]).toEqual([[room, news], "p.4,p.7"]);
  });

  test("ignores members of the response that it does not know", async () => {
    const poll = await openPollingPage();
    poll.respondJson({ events: [["room:1", 4]], gaps: [], cursor: "p.4", next: 5, other: { text: "" } });
    await page.advance();
    expect(received).toEqual([4]);
  });
});

describe("a page that cannot load the code for polls", () => {
  const isPage = () => page.lastRequest.path === "/room";

  /** Opens a page whose two event streams fail, up to its request for itself. */
  async function openWithoutPolls(): Promise<void> {
    vi.doMock("./live-poll.ts", () => {
      throw new TypeError("Failed to fetch");
    });
    (await openPage()).fail();
    await page.waitForRequest();
    page.lastRequest.fail();
    while (!isPage()) await page.waitForRequest();
  }

  afterEach(() => vi.doUnmock("./live-poll.ts"));

  test("reloads if the server has the page: its build is another one", async () => {
    await openWithoutPolls();
    expect(page.reloadCount).toBe(0);
    page.lastRequest.respond(html(200));
    await page.advance(3_000);
    expect(page.reloadCount).toBe(1);
  });

  test("tries an event stream again if the request for the code hangs", async () => {
    vi.doMock("./live-poll.ts", () => new Promise(() => {}));
    (await openPage({ pollsHang: true })).fail();
    await page.waitForRequest();
    page.lastRequest.fail();
    const failed = page.requests.length;
    await page.advance(150_000);
    expect(page.requests.slice(failed).map(({ path }) => path)).toContain("/__web/live");
  });

  test.each([
    ["the server is unreachable", () => page.lastRequest.fail()],
    ["a proxy responds with 502", () => page.lastRequest.respond(html(502))],
    ["a proxy responds with 404", () => page.lastRequest.respond(html(404))],
  ])("tries event streams and polls in turn, and does not reload, if %s", async (_, respond) => {
    await openWithoutPolls();
    for (let round = 0; round < 3; round++) {
      respond();
      await page.waitForRequest();
      expect([page.lastRequest.path, page.lastRequest.after]).toEqual(["/__web/live", "p.3"]);
      page.lastRequest.fail();
      while (!isPage()) await page.waitForRequest();
    }
    respond();
    await page.waitForRequest();
    page.lastRequest.respondStream().push(encodeEvent.message("p.4", "room:1", 4));
    await page.advance(3_000);
    expect([received, page.reloadCount]).toEqual([[4], 0]);
  });
});

import { afterEach, describe, expect, test, vi } from "vitest";
import { encodeEvent, type PageRequest } from "#test/fake-page";
import {
  emptyResponse,
  html,
  news,
  openPage,
  openPollingPage,
  page,
  received,
  room,
  usePageWithRoom,
} from "#test/page-with-room";

usePageWithRoom();

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

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { feedOf } from "#test/live-feed";
import { LivePage, type LiveRequest, say } from "#test/live-page";

const room = feedOf("room:1", { position: "p.3" });
const news = feedOf("news", { position: "p.7" });

let page: LivePage;
let seen: unknown[];

beforeEach(async () => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0);
  seen = [];
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function listen(options: Parameters<typeof LivePage.open>[0] = {}): Promise<LiveRequest> {
  page = await LivePage.open(options);
  page.subscribe(room, (message) => seen.push(message), { gap: (reason) => seen.push(`gap: ${reason}`) });
  await page.pass();
  return page.last;
}

/** Opens a page whose event streams fail, and returns its first poll. */
async function untilPoll(options: Parameters<typeof LivePage.open>[0] = {}): Promise<LiveRequest> {
  (await listen(options)).fail();
  await page.untilAsked();
  page.last.fail();
  await page.untilAsked();
  return page.last;
}

const empty = (cursor = "p.3") => ({ events: [], gaps: [], cursor });
const html = (status = 200) =>
  new Response("<p>Sign in to the hotel</p>", { status, headers: { "content-type": "text/html" } });

const STREAMING_503 = { status: 503, headers: { "content-type": "text/event-stream" } };

/** Responses to a request for an event stream that are not one. */
const NOT_A_STREAM: readonly (readonly [string, (request: LiveRequest) => void])[] = [
  ["a network error", (request) => request.fail()],
  ["an HTML page of a proxy", (request) => request.answer(html())],
  ["another content type", (request) => request.open({ type: "text/plain" })],
  ["no content type", (request) => request.answer(new Response(new Uint8Array()))],
  ["status 204", (request) => request.answer(new Response(null, { status: 204 }))],
  ["400", (request) => request.json({ error: {} }, 400)],
  ["403 of a proxy", (request) => request.answer(html(403))],
  ["404", (request) => request.json({ error: {} }, 404)],
  ["429", (request) => request.json({ error: {} }, 429)],
  ["500", (request) => request.answer(html(500))],
  ["502", (request) => request.answer(html(502))],
  [
    "503 with the content type of an event stream",
    (request) => request.answer(new Response("id: p.4\ndata: room:1\ndata: 1\n\n", STREAMING_503)),
  ],
  ["a stream that is cut at once", (request) => request.open().cut()],
  ["a stream that ends at once", (request) => request.open().end()],
  ["a stream with a message that is not JSON", (request) => request.open().push("id: p.4\ndata: room:1\ndata: {\n\n")],
];

describe("an event stream that cannot be opened", () => {
  // Without the last one, which sends an event: that counts as a working connection.
  test.each(NOT_A_STREAM.slice(0, -1))("is tried once more, then the page polls: %s", async (_, fault) => {
    fault(await listen());
    const waited = await page.untilAsked();
    expect(waited).toBeGreaterThanOrEqual(2000 - 100);
    expect(waited).toBeLessThanOrEqual(4000 + 100);
    expect(page.last.kind).toBe("/__web/live");
    fault(page.last);
    expect(await page.untilAsked()).toBeLessThanOrEqual(50);
    expect(page.last.kind).toBe("/__web/poll");
    expect([page.last.feeds, page.last.after, page.last.wait]).toEqual([[room], "p.3", "25"]);
    expect(seen).toEqual([]);
    expect(page.said).toEqual([]);
  });

  test.each(NOT_A_STREAM)("is aborted before the next attempt: %s", async (_, fault) => {
    const first = await listen();
    fault(first);
    await page.untilAsked();
    expect(first.aborted.aborted).toBe(true);
  });

  test("is aborted after 10 seconds without data, then the page polls", async () => {
    const first = await listen();
    await page.pass(9_999);
    expect(page.requests.length).toBe(1);
    await page.pass(1);
    expect(first.aborted.aborted).toBe(true);
    expect(page.last.kind).toBe("/__web/poll");
  });
});

describe("an event stream that was open", () => {
  test.each([
    ["ends", (request: LiveRequest) => request.end()],
    ["is cut", (request: LiveRequest) => request.cut()],
  ])("and %s is opened again after the server's retry delay, from the last message", async (_, fault) => {
    for (let round = 4; round < 8; round++) {
      const request = round === 4 ? await listen() : page.last;
      request.open({ retry: 3000 }).push(say.message(`p.${round}`, "room:1", round));
      await page.pass(1000);
      fault(request);
      const waited = await page.untilAsked();
      expect(waited).toBeGreaterThan(2900);
      expect(waited).toBeLessThan(3100);
      expect([page.last.kind, page.last.after]).toEqual(["/__web/live", `p.${round}`]);
    }
    expect(seen).toEqual([4, 5, 6, 7]);
  });

  test("is opened again after a random delay", async () => {
    (await listen()).open({ retry: 3000 }).push(say.ping);
    await page.pass();
    vi.spyOn(Math, "random").mockReturnValue(0.999);
    page.last.end();
    expect(await page.untilAsked()).toBeLessThan(1700);
  });

  test("is resumed before a message that was received in part", async () => {
    (await listen()).open().push(say.message("p.4", "room:1", "whole"));
    page.last.push(say.message("p.5", "room:1", "half").slice(0, -1));
    await page.pass();
    page.last.cut();
    await page.untilAsked();
    expect(page.last.after).toBe("p.4");
    expect(seen).toEqual(["whole"]);
  });

  test("stays open while the server sends pings", async () => {
    const request = (await listen()).open();
    for (let n = 0; n < 30; n++) {
      await page.pass(20_000);
      request.push(say.ping);
    }
    await page.pass();
    expect(page.requests.length).toBe(1);
  });

  test("is aborted after 45 seconds without data; the page polls and tries again after a minute", async () => {
    const request = (await listen()).open().push(say.message("p.4", "room:1", 4));
    await page.pass(44_999);
    expect(request.aborted.aborted).toBe(false);
    await page.pass(1);
    expect(request.aborted.aborted).toBe(true);
    expect([page.last.kind, page.last.after]).toEqual(["/__web/poll", "p.4"]);
    for (let waited = 0; page.last.kind === "/__web/poll"; waited += 25_000) {
      expect(waited).toBeLessThan(90_000);
      await page.pass(25_000);
      page.last.json(empty("p.4"));
      await page.pass(1000);
    }
    page.last.open().push(say.message("p.5", "room:1", 5));
    await page.pass();
    expect(seen).toEqual([4, 5]);
  });

  test("with a cursor for another number of channels is resumed from the cursor before, without loss", async () => {
    page = await LivePage.open();
    page.subscribe(room, (message) => seen.push(message));
    page.subscribe(news, (message) => seen.push(message));
    await page.pass();
    page.last.open().push(say.message("p.4", "room:1", 4));
    await page.untilAsked();
    expect(page.last.after).toBe("p.3,p.7");
    page.last.open().push(say.message("p.4,p.7", "room:1", 4));
    await page.pass();
    expect(seen).toEqual([4]);
  });

  test("with a message that is not JSON is resumed before it, after a delay", async () => {
    (await listen()).open().push("id: p.4\ndata: room:1\ndata: {\n\n");
    expect(await page.untilAsked()).toBeGreaterThan(900);
    expect(page.last.after).toBe("p.3");
  });
});

describe("a poll", () => {
  test("delivers its messages in order and is followed by a poll from its cursor", async () => {
    const poll = await untilPoll();
    poll.json({
      events: [
        ["room:1", 4],
        ["room:2", "another's"],
        ["room:1", { five: 5 }],
      ],
      gaps: [],
      cursor: "p.5",
    });
    const waited = await page.untilAsked();
    expect(waited).toBeGreaterThan(400);
    expect(waited).toBeLessThan(1100);
    expect([page.last.kind, page.last.after, page.last.wait]).toEqual(["/__web/poll", "p.5", "25"]);
    expect(seen).toEqual([4, { five: 5 }]);
  });

  test("is repeated after a delay even if every response is immediate", async () => {
    await untilPoll();
    const start = Date.now();
    for (let n = 0; n < 20; n++) {
      page.last.json({ events: [["room:1", n]], gaps: [], cursor: `p.${n + 10}` });
      await page.untilAsked();
    }
    expect(seen.length).toBe(20);
    expect(Date.now() - start).toBeGreaterThan(20 * 900);
  });

  test("is repeated for a minute; then one failed event stream is enough to poll again", async () => {
    await untilPoll();
    const start = Date.now();
    while (page.last.kind === "/__web/poll") {
      page.last.json(empty());
      await page.untilAsked();
    }
    expect(Date.now() - start).toBeGreaterThanOrEqual(59_000);
    expect(Date.now() - start).toBeLessThan(62_000);
    page.last.answer(html(403));
    expect(await page.untilAsked()).toBeLessThanOrEqual(50);
    expect(page.last.kind).toBe("/__web/poll");
  });

  test("is replaced by an event stream after a minute, even if the clock is set back", async () => {
    await untilPoll();
    vi.setSystemTime(Date.now() - 3_600_000);
    for (let polls = 0; page.last.kind === "/__web/poll"; polls++) {
      expect(polls).toBeLessThan(4);
      await page.pass(25_000);
      page.last.json(empty());
      await page.untilAsked();
    }
  });

  test("is no longer used once an event stream has opened", async () => {
    await untilPoll();
    while (page.last.kind === "/__web/poll") {
      page.last.json(empty());
      await page.untilAsked();
    }
    page.last.open().push(say.message("p.4", "room:1", 4));
    await page.pass(30_000);
    page.last.push(say.ping);
    await page.pass();
    page.last.end();
    await page.untilAsked();
    expect([page.last.kind, page.last.after]).toEqual(["/__web/live", "p.4"]);
  });

  test.each([
    ["a network error", (request: LiveRequest) => request.fail()],
    ["an HTML page of a proxy", (request: LiveRequest) => request.answer(html())],
    ["status 204", (request: LiveRequest) => request.answer(new Response(null, { status: 204 }))],
    ["404", (request: LiveRequest) => request.json({ error: {} }, 404)],
    ["429", (request: LiveRequest) => request.json({ error: {} }, 429)],
    ["500", (request: LiveRequest) => request.answer(html(500))],
    ["502", (request: LiveRequest) => request.answer(html(502))],
    ["503", (request: LiveRequest) => request.json({ error: {} }, 503)],
    ["other JSON", (request: LiveRequest) => request.json({ ok: true })],
    ["null", (request: LiveRequest) => request.json(null)],
    ["a cursor of fewer channels", (request: LiveRequest) => request.json({ ...empty("p.5"), cursor: "" })],
  ])("that fails is repeated with growing delays: %s", async (_, fault) => {
    await untilPoll();
    const waits: number[] = [];
    for (let n = 0; n < 12; n++) {
      fault(page.last);
      waits.push(await page.untilAsked());
    }
    expect(waits[0]).toBeGreaterThan(400);
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_100);
    expect(seen).toEqual([]);
    expect(page.said).toEqual([]);
    while (page.last.kind !== "/__web/poll") {
      page.last.fail();
      await page.untilAsked();
    }
    page.last.json({ events: [["room:1", "back"]], gaps: [], cursor: "p.4" });
    await page.pass();
    expect(seen).toEqual(["back"]);
  });

  test("without a response is aborted after 45 seconds", async () => {
    const poll = await untilPoll();
    await page.pass(44_900);
    expect(poll.aborted.aborted).toBe(false);
    await page.pass(100);
    expect(poll.aborted.aborted).toBe(true);
    await page.untilAsked();
  });

  test("that was replaced delivers nothing", async () => {
    const poll = await untilPoll();
    page.subscribe(news, () => {});
    poll.json({ events: [["room:1", 4]], gaps: [], cursor: "p.4" });
    await page.pass();
    expect(seen).toEqual([]);
    expect([page.last.feeds, page.last.after]).toEqual([[room, news], "p.3,p.7"]);
  });
});

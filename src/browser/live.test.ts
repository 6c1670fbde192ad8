import { describe, expect, test, vi } from "vitest";
import { encodeEvent, type PageRequest } from "#test/fake-page";
import {
  emptyResponse,
  html,
  news,
  openBarePage,
  openPage,
  page,
  received,
  room,
  usePageWithRoom,
} from "#test/page-with-room";

usePageWithRoom();

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
    await openBarePage();
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

import { describe, expect, test } from "vitest";
import { encodeEvent } from "#test/fake-page";
import {
  emptyResponse,
  news,
  openBarePage,
  openPage,
  openPollingPage,
  page,
  received,
  room,
  usePageWithRoom,
} from "#test/page-with-room";
import { unsignedFeed } from "#test/unsigned-feed";

usePageWithRoom();

describe("feeds that the server rejects", () => {
  test.each([400, 403, 414])(
    "by a poll with %i are reported as expired, once, and not requested again",
    async (status) => {
      const poll = await openPollingPage();
      page.subscribe(news, () => {}, { gap: (reason) => received.push(`news gap: ${reason}`) });
      await page.advance();
      expect(poll.signal.aborted).toBe(true);
      page.lastRequest.respondJson({ error: { code: "forbidden" } }, status);
      const requestCount = page.requests.length;
      await page.advance(300_000);
      expect(received).toEqual(["gap: expired", "news gap: expired"]);
      expect(page.requests.length).toBe(requestCount);
    },
  );
});

describe("a gap", () => {
  test("in an event stream is reported; other channels continue, and its channel is not requested again", async () => {
    await openBarePage();
    page.subscribe(room, (message) => received.push(message), { gap: (reason) => received.push(`gap: ${reason}`) });
    page.subscribe(news, (message) => received.push(`news: ${message}`));
    await page.advance();
    page.lastRequest
      .respondStream()
      .push(encodeEvent.gap("-,p.7", "room:1", "trimmed") + encodeEvent.message("-,p.8", "news", 8));
    page.lastRequest.push(encodeEvent.message("p.9,p.8", "room:1", "never"));
    await page.advance();
    expect(received).toEqual(["gap: trimmed", "news: 8"]);
    expect(page.requests.length).toBe(1);
    page.lastRequest.breakConnection();
    await page.waitForRequest();
    expect([page.lastRequest.feeds, page.lastRequest.after]).toEqual([[news], "p.8"]);
  });

  test("tells its handler in which time pages reload: 3 seconds, or more if the server says so", async () => {
    await openBarePage();
    const gap = (...details: unknown[]) => received.push(details);
    for (const feed of [room, news]) page.subscribe(feed, () => {}, { gap });
    await page.advance();
    const events = encodeEvent.gap("-,p.7", "room:1", "reset", 40_000) + encodeEvent.gap("-,-", "news", "trimmed");
    page.lastRequest.respondStream().push(events);
    await page.advance();
    expect(received).toEqual([
      ["reset", 40_000],
      ["trimmed", 3_000],
    ]);
  });

  test("of the only channel ends the connection", async () => {
    const request = (await openPage()).respondStream().push(encodeEvent.gap("-", "room:1", "reset"));
    await page.advance();
    expect(request.signal.aborted).toBe(true);
    await page.advance(300_000);
    expect(received).toEqual(["gap: reset"]);
    expect(page.requests.length).toBe(1);
  });

  test("in a poll is reported, and the messages of other channels are delivered", async () => {
    const poll = await openPollingPage();
    page.subscribe(news, (message) => received.push(`news: ${message}`));
    await page.advance();
    poll.respondJson(emptyResponse());
    page.lastRequest.respondJson({ events: [["news", 8]], gaps: [["room:1", "expired", 4_000]], cursor: "-,p.8" });
    await page.waitForRequest();
    expect(received).toEqual(["gap: expired", "news: 8"]);
    expect([page.lastRequest.feeds, page.lastRequest.after]).toEqual([[news], "p.8"]);
  });

  test("is reported to all listeners even if a handler throws", async () => {
    const error = new Error("an error of the page");
    await openBarePage();
    page.subscribe(room, () => {}, {
      gap: () => {
        throw error;
      },
    });
    page.subscribe(room, () => {}, { gap: (reason) => received.push(reason) });
    await page.advance();
    page.lastRequest.respondStream().push(encodeEvent.gap("-", "room:1", "trimmed"));
    await page.advance();
    expect(received).toEqual(["trimmed"]);
    expect(page.reportedErrors).toEqual([error]);
  });

  test("is reported only to listeners that are behind it; the others continue", async () => {
    const request = (await openPage())
      .respondStream()
      .push(encodeEvent.message("p.4", "room:1", 4) + encodeEvent.message("p.5", "room:1", 5));
    await page.advance();
    for (const name of ["late", "also late"]) {
      page.subscribe(room, (message) => received.push(`${name}: ${message}`), {
        gap: (reason) => received.push(`${name}: ${reason}`),
      });
    }
    await page.advance();
    expect([request.signal.aborted, page.lastRequest.after]).toEqual([true, "p.3"]);
    page.lastRequest.respondStream().push(encodeEvent.gap("-", "room:1", "trimmed"));
    await page.advance();
    expect(received).toEqual([4, 5, "late: trimmed", "also late: trimmed"]);
    expect([page.lastRequest.feeds, page.lastRequest.after]).toEqual([[room], "p.5"]);
    page.lastRequest.respondStream().push(encodeEvent.message("p.6", "room:1", 6));
    await page.advance();
    expect(received.slice(4)).toEqual([6]);
  });

  test("can be handled by subscribing with a new feed", async () => {
    await openBarePage();
    const fresh = unsignedFeed("room:1", { position: "q.1" });
    page.subscribe(room, () => {}, { gap: () => page.subscribe(fresh, (message) => received.push(message)) });
    await page.advance();
    page.lastRequest.respondStream().push(encodeEvent.gap("-", "room:1", "reset"));
    await page.advance();
    expect([page.lastRequest.feeds, page.lastRequest.after]).toEqual([[fresh], "q.1"]);
    page.lastRequest.respondStream().push(encodeEvent.message("q.2", "room:1", "new"));
    await page.advance();
    expect(received).toEqual(["new"]);
  });
});

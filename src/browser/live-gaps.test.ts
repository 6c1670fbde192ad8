import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeEvent, FakePage, type PageRequest } from "#test/fake-page";
import { unsignedFeed } from "#test/unsigned-feed";

const room = unsignedFeed("room:1", { position: "p.3" });
const news = unsignedFeed("news", { position: "p.7" });

let page: FakePage;
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

async function listen(options: Parameters<typeof FakePage.open>[0] = {}): Promise<PageRequest> {
  page = await FakePage.open(options);
  page.subscribe(room, (message) => seen.push(message), { gap: (reason) => seen.push(`gap: ${reason}`) });
  await page.advance();
  return page.lastRequest;
}

/** Opens a page whose event streams fail, and returns its first poll. */
async function untilPoll(options: Parameters<typeof FakePage.open>[0] = {}): Promise<PageRequest> {
  (await listen(options)).fail();
  await page.waitForRequest();
  page.lastRequest.fail();
  await page.waitForRequest();
  return page.lastRequest;
}

const empty = (cursor = "p.3") => ({ events: [], gaps: [], cursor });

describe("feeds that the server rejects", () => {
  test.each([400, 403, 414])(
    "by a poll with %i are reported as expired, once, and not requested again",
    async (status) => {
      const poll = await untilPoll();
      page.subscribe(news, () => {}, { gap: (reason) => seen.push(`news gap: ${reason}`) });
      await page.advance();
      expect(poll.signal.aborted).toBe(true);
      page.lastRequest.respondJson({ error: { code: "forbidden" } }, status);
      const requestCount = page.requests.length;
      await page.advance(300_000);
      expect(seen).toEqual(["gap: expired", "news gap: expired"]);
      expect(page.requests.length).toBe(requestCount);
      expect(page.consoleErrors).toEqual([`Feeds refused (${status})`]);
    },
  );
});

describe("a gap", () => {
  test("in an event stream is reported; other channels continue, and its channel is not requested again", async () => {
    page = await FakePage.open();
    page.subscribe(room, (message) => seen.push(message), { gap: (reason) => seen.push(`gap: ${reason}`) });
    page.subscribe(news, (message) => seen.push(`news: ${message}`));
    await page.advance();
    page.lastRequest
      .respondStream()
      .push(encodeEvent.gap("-,p.7", "room:1", "trimmed") + encodeEvent.message("-,p.8", "news", 8));
    page.lastRequest.push(encodeEvent.message("p.9,p.8", "room:1", "never"));
    await page.advance();
    expect(seen).toEqual(["gap: trimmed", "news: 8"]);
    expect(page.requests.length).toBe(1);
    page.lastRequest.breakConnection();
    await page.waitForRequest();
    expect([page.lastRequest.feeds, page.lastRequest.after]).toEqual([[news], "p.8"]);
  });

  test("of the only channel ends the connection", async () => {
    const request = (await listen()).respondStream().push(encodeEvent.gap("-", "room:1", "reset"));
    await page.advance();
    expect(request.signal.aborted).toBe(true);
    await page.advance(300_000);
    expect(seen).toEqual(["gap: reset"]);
    expect(page.requests.length).toBe(1);
  });

  test("in a poll is reported after the messages of the same response", async () => {
    const poll = await untilPoll();
    page.subscribe(news, (message) => seen.push(`news: ${message}`));
    await page.advance();
    poll.respondJson(empty());
    page.lastRequest.respondJson({ events: [["news", 8]], gaps: [["room:1", "expired"]], cursor: "-,p.8" });
    await page.waitForRequest();
    expect(seen).toEqual(["news: 8", "gap: expired"]);
    expect([page.lastRequest.feeds, page.lastRequest.after]).toEqual([[news], "p.8"]);
  });

  test("is reported to all listeners even if a handler throws", async () => {
    const error = new Error("an error of the page");
    page = await FakePage.open();
    page.subscribe(room, () => {}, {
      gap: () => {
        throw error;
      },
    });
    page.subscribe(room, () => {}, { gap: (reason) => seen.push(reason) });
    await page.advance();
    page.lastRequest.respondStream().push(encodeEvent.gap("-", "room:1", "trimmed"));
    await page.advance();
    expect(seen).toEqual(["trimmed"]);
    expect(page.reportedErrors).toEqual([error]);
  });

  test("is reported only to listeners that are behind it; the others continue", async () => {
    const request = (await listen())
      .respondStream()
      .push(encodeEvent.message("p.4", "room:1", 4) + encodeEvent.message("p.5", "room:1", 5));
    await page.advance();
    for (const name of ["late", "also late"]) {
      page.subscribe(room, (message) => seen.push(`${name}: ${message}`), {
        gap: (reason) => seen.push(`${name}: ${reason}`),
      });
    }
    await page.advance();
    expect([request.signal.aborted, page.lastRequest.after]).toEqual([true, "p.3"]);
    page.lastRequest.respondStream().push(encodeEvent.gap("-", "room:1", "trimmed"));
    await page.advance();
    expect(seen).toEqual([4, 5, "late: trimmed", "also late: trimmed"]);
    expect([page.lastRequest.feeds, page.lastRequest.after]).toEqual([[room], "p.5"]);
    page.lastRequest.respondStream().push(encodeEvent.message("p.6", "room:1", 6));
    await page.advance();
    expect(seen.slice(4)).toEqual([6]);
  });

  test("can be handled by subscribing with a new feed", async () => {
    page = await FakePage.open();
    const fresh = unsignedFeed("room:1", { position: "q.1" });
    page.subscribe(room, () => {}, { gap: () => page.subscribe(fresh, (message) => seen.push(message)) });
    await page.advance();
    page.lastRequest.respondStream().push(encodeEvent.gap("-", "room:1", "reset"));
    await page.advance();
    expect([page.lastRequest.feeds, page.lastRequest.after]).toEqual([[fresh], "q.1"]);
    page.lastRequest.respondStream().push(encodeEvent.message("q.2", "room:1", "new"));
    await page.advance();
    expect(seen).toEqual(["new"]);
  });
});

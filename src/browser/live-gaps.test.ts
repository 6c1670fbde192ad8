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

describe("feeds that the server rejects", () => {
  test.each([400, 403, 414])(
    "by a poll with %i are reported as expired, once, and not requested again",
    async (status) => {
      const poll = await untilPoll();
      page.subscribe(news, () => {}, { gap: (reason) => seen.push(`news gap: ${reason}`) });
      await page.pass();
      expect(poll.aborted.aborted).toBe(true);
      page.last.json({ error: { code: "forbidden" } }, status);
      const requestCount = page.requests.length;
      await page.pass(300_000);
      expect(seen).toEqual(["gap: expired", "news gap: expired"]);
      expect(page.requests.length).toBe(requestCount);
      expect(page.said).toEqual([`Feeds refused (${status})`]);
    },
  );
});

describe("a gap", () => {
  test("in an event stream is reported; other channels continue, and its channel is not requested again", async () => {
    page = await LivePage.open();
    page.subscribe(room, (message) => seen.push(message), { gap: (reason) => seen.push(`gap: ${reason}`) });
    page.subscribe(news, (message) => seen.push(`news: ${message}`));
    await page.pass();
    page.last.open().push(say.gap("-,p.7", "room:1", "trimmed") + say.message("-,p.8", "news", 8));
    page.last.push(say.message("p.9,p.8", "room:1", "never"));
    await page.pass();
    expect(seen).toEqual(["gap: trimmed", "news: 8"]);
    expect(page.requests.length).toBe(1);
    page.last.cut();
    await page.untilAsked();
    expect([page.last.feeds, page.last.after]).toEqual([[news], "p.8"]);
  });

  test("of the only channel ends the connection", async () => {
    const request = (await listen()).open().push(say.gap("-", "room:1", "reset"));
    await page.pass();
    expect(request.aborted.aborted).toBe(true);
    await page.pass(300_000);
    expect(seen).toEqual(["gap: reset"]);
    expect(page.requests.length).toBe(1);
  });

  test("in a poll is reported after the messages of the same response", async () => {
    const poll = await untilPoll();
    page.subscribe(news, (message) => seen.push(`news: ${message}`));
    await page.pass();
    poll.json(empty());
    page.last.json({ events: [["news", 8]], gaps: [["room:1", "expired"]], cursor: "-,p.8" });
    await page.untilAsked();
    expect(seen).toEqual(["news: 8", "gap: expired"]);
    expect([page.last.feeds, page.last.after]).toEqual([[news], "p.8"]);
  });

  test("is reported to all listeners even if a handler throws", async () => {
    const error = new Error("an error of the page");
    page = await LivePage.open();
    page.subscribe(room, () => {}, {
      gap: () => {
        throw error;
      },
    });
    page.subscribe(room, () => {}, { gap: (reason) => seen.push(reason) });
    await page.pass();
    page.last.open().push(say.gap("-", "room:1", "trimmed"));
    await page.pass();
    expect(seen).toEqual(["trimmed"]);
    expect(page.reported).toEqual([error]);
  });

  test("is reported only to listeners that are behind it; the others continue", async () => {
    const request = (await listen()).open().push(say.message("p.4", "room:1", 4) + say.message("p.5", "room:1", 5));
    await page.pass();
    for (const name of ["late", "also late"]) {
      page.subscribe(room, (message) => seen.push(`${name}: ${message}`), {
        gap: (reason) => seen.push(`${name}: ${reason}`),
      });
    }
    await page.pass();
    expect([request.aborted.aborted, page.last.after]).toEqual([true, "p.3"]);
    page.last.open().push(say.gap("-", "room:1", "trimmed"));
    await page.pass();
    expect(seen).toEqual([4, 5, "late: trimmed", "also late: trimmed"]);
    expect([page.last.feeds, page.last.after]).toEqual([[room], "p.5"]);
    page.last.open().push(say.message("p.6", "room:1", 6));
    await page.pass();
    expect(seen.slice(4)).toEqual([6]);
  });

  test("can be handled by subscribing with a new feed", async () => {
    page = await LivePage.open();
    const fresh = feedOf("room:1", { position: "q.1" });
    page.subscribe(room, () => {}, { gap: () => page.subscribe(fresh, (message) => seen.push(message)) });
    await page.pass();
    page.last.open().push(say.gap("-", "room:1", "reset"));
    await page.pass();
    expect([page.last.feeds, page.last.after]).toEqual([[fresh], "q.1"]);
    page.last.open().push(say.message("q.2", "room:1", "new"));
    await page.pass();
    expect(seen).toEqual(["new"]);
  });
});

/**
 * A page that has subscribed to one channel, with what it has received, for the tests of its requests. Its delays are not random.
 */
import { afterEach, beforeEach, vi } from "vitest";
import { FakePage, type FakePageOptions, type PageRequest } from "./fake-page.ts";
import { unsignedFeed } from "./unsigned-feed.ts";

/** The feed of the channel, and one that the page has not subscribed to. */
export const room = unsignedFeed("room:1", { position: "p.3" });
export const news = unsignedFeed("news", { position: "p.7" });

/** The page of the current test. */
export let page: FakePage;

/** The messages that it has received, and the gaps. */
export let received: unknown[];

/** Replaces the clock before each test, and restores it after it. */
export function usePageWithRoom(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, "random").mockReturnValue(0);
    received = [];
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
}

/** Opens a page without a subscription. */
export async function openBarePage(options: FakePageOptions = {}): Promise<void> {
  page = await FakePage.open(options);
}

/** Opens a page with one subscription, and returns its request. */
export async function openPage(options: FakePageOptions = {}): Promise<PageRequest> {
  await openBarePage(options);
  page.subscribe(room, (message) => received.push(message), { gap: (reason) => received.push(`gap: ${reason}`) });
  await page.advance();
  return page.lastRequest;
}

/** Opens a page whose event streams fail, and returns its first poll. */
export async function openPollingPage(options: FakePageOptions = {}): Promise<PageRequest> {
  (await openPage(options)).fail();
  await page.waitForRequest();
  page.lastRequest.fail();
  await page.waitForRequest();
  return page.lastRequest;
}

/** Returns the JSON of a response to a poll without messages. */
export const emptyResponse = (cursor = "p.3") => ({ events: [], gaps: [], cursor });

/** Returns a response of a proxy. */
export const html = (status = 200) =>
  new Response("<p>Sign in to the hotel</p>", { status, headers: { "content-type": "text/html" } });

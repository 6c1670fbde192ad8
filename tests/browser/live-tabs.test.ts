/**
 * Tabs of one browser that share a connection for live updates (docs/protocol.md 10.10), in Chromium, against a fake server.
 */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { FakeLiveServer } from "#test/fake-live-server";
import { launch, startBack } from "./chromium.ts";
import { buildScripts, documentOf, IslandServer, MARK } from "./island-server.ts";

let browser: Browser;
let server: IslandServer;
let live: FakeLiveServer;
let context: BrowserContext;
let errors: string[];

beforeAll(async () => {
  const [scripts, started] = await Promise.all([buildScripts(), launch()]);
  browser = started;
  server = new IslandServer(scripts);
  await server.start();
});

afterAll(async () => {
  await browser?.close();
  server?.stop();
});

beforeEach(async () => {
  live = new FakeLiveServer();
  server.live = live.handle;
  context = await browser.newContext();
  errors = [];
});

afterEach(async () => {
  await context.close();
  await expect.poll(() => [live.openStreamCount, live.waitingPollCount]).toEqual([0, 0]);
  expect(errors).toEqual([]);
});

/** Opens a tab with a listener for each channel. */
async function openTab(...channels: string[]): Promise<Page> {
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(pageOf(channels));
  return page;
}

/** Serves a page with a listener for each channel. Returns its URL. */
function pageOf(channels: readonly string[]): string {
  const views = channels.map((channel) => ({
    name: "Listener",
    props: { feed: live.issueFeed(channel), name: channel },
    from: "subscriptions" as const,
  }));
  const body = views.map((_, i) => `<!--${MARK}:${i}--><!--/${MARK}:${i}-->`).join("");
  return server.page(documentOf(body, views));
}

const textOf = (page: Page, channel: string) => page.locator(`#${channel}`).textContent();

describe("tabs of one sign-in", () => {
  test("share one event stream, each with its channels", async () => {
    const tabs = [await openTab("a", "b"), await openTab("b", "c"), await openTab("a")];
    await expect.poll(() => live.requests.at(-1)?.channels.toSorted()).toEqual(["a", "b", "c"]);
    await expect.poll(() => live.openStreamCount).toBe(1);
    for (const channel of ["a", "b", "c"]) live.publish(channel, `${channel}1`, `${channel}2`);
    for (const [i, channel] of [
      [0, "a"],
      [0, "b"],
      [1, "b"],
      [1, "c"],
      [2, "a"],
    ] as const)
      await expect.poll(() => textOf(tabs[i] as Page, channel)).toBe(`${channel}1,${channel}2`);
    expect(live.openStreamCount).toBe(1);
  });

  test("continue when the tab with the connection is closed, reloaded or crashes", async () => {
    await context.close();
    const processes = await launch({ processPerPage: true });
    onTestFinished(() => processes.close());
    context = await processes.newContext();
    const tabs = [await openTab("a"), await openTab("a"), await openTab("a")] as [Page, Page, Page];
    await expect.poll(() => live.openStreamCount).toBe(1);
    live.publish("a", "1");
    await expect.poll(() => textOf(tabs[2], "a")).toBe("1");
    await tabs[0].close();
    live.publish("a", "2");
    await expect.poll(() => textOf(tabs[2], "a")).toBe("1,2");
    const session = await context.newCDPSession(tabs[1]);
    void session.send("Page.crash").catch(() => undefined); // the session ends
    live.publish("a", "3");
    await expect.poll(() => textOf(tabs[2], "a")).toBe("1,2,3");
    await expect.poll(() => live.openStreamCount).toBe(1);
  });

  test.each(["leader", "follower"])(
    "are kept for Back, and are live again when they are restored (%s)",
    async (role) => {
      const full = await launch({ fullBrowser: true });
      try {
        await context.close();
        context = await full.newContext();
        const leader = await openTab("a");
        const follower = await openTab("a");
        const [tab, other] = role === "leader" ? [leader, follower] : [follower, leader];
        live.publish("a", "1");
        await expect.poll(() => textOf(tab, "a")).toBe("1");
        await tab.evaluate('addEventListener("pageshow", (event) => { persisted = event.persisted; })');
        await tab.goto(pageOf([]));
        live.publish("a", "2");
        await expect.poll(() => textOf(other, "a")).toMatch(/2$/);
        await startBack(tab);
        await expect.poll(() => textOf(tab, "a")).toBe("1,2");
        expect(await tab.evaluate("persisted")).toBe(true);
        live.publish("a", "3");
        for (const each of [tab, other]) await expect.poll(() => textOf(each, "a")).toMatch(/2,3$/);
        await expect.poll(() => live.openStreamCount).toBe(1);
        await context.close();
      } finally {
        await full.close();
      }
    },
  );
});

/**
 * The browser part of live updates in Chromium, against a fake server that fails on request.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { FakeLiveServer } from "#test/fake-live-server";
import { launch, startBack } from "./chromium.ts";
import { buildScripts, documentOf, IslandServer, MARK, type PlacedView } from "./island-server.ts";

let browser: Browser;
let server: IslandServer;
let live: FakeLiveServer;
let page: Page;
/** Uncaught errors of the page. */
let errors: string[];
/** Errors on the console of the page, without the browser's reports of failed requests. */
let consoleErrors: string[];

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
  await openPage(browser);
});

/** Opens the page of a test. */
async function openPage(browser: Browser): Promise<void> {
  page = await browser.newPage();
  errors = [];
  consoleErrors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      consoleErrors.push(message.text());
  });
}

afterEach(async () => {
  await page.context().close();
  await expect.poll(() => [live.openStreamCount, live.waitingPollCount]).toEqual([0, 0]);
  expect(errors).toEqual([]);
});

/** Serves a page with these views. Returns its URL. */
function pageOf(placedViews: readonly PlacedView[]): string {
  const body = placedViews.map((_, i) => `<!--${MARK}:${i}--><!--/${MARK}:${i}-->`).join("");
  const views = placedViews.map((each) => ({ ...each, from: "subscriptions" }));
  return server.page(documentOf(body, views));
}

function listener(channel: string, more: Readonly<Record<string, unknown>> = {}): PlacedView {
  return { name: "Listener", props: { feed: live.issueFeed(channel), name: channel, ...more } };
}

/** Waits until a view has a text. */
async function expectText(id: string, text: string): Promise<void> {
  await expect.poll(() => page.locator(`#${id}`).textContent()).toBe(text);
}

/**
 * Installs a fake clock. The clock's `performance` has no navigation entries, and its time continues over a reload: here
 * both are those of the page, as in a browser.
 */
async function installClock(): Promise<void> {
  await page.addInitScript("globalThis.entries = performance.getEntriesByType.bind(performance)");
  await page.clock.install();
  await page.addInitScript(() => {
    const { entries } = globalThis as unknown as { entries: typeof performance.getEntriesByType }; // the script above
    const now = performance.now;
    let openedAt: number | undefined;
    Object.assign(performance, {
      getEntriesByType: entries,
      now: () => {
        openedAt ??= now();
        return now() - openedAt;
      },
    });
  });
}

const cursors = (endpoint: "live" | "poll") =>
  live.requests.filter((request) => request.endpoint === endpoint).map(({ after }) => after);

describe("an event stream", () => {
  test("delivers messages to all views of the page over one connection", async () => {
    await page.goto(pageOf([listener("a"), listener("b"), listener("a", { name: "again" })]));
    await expect.poll(() => live.openStreamCount).toBe(1);
    live.publish("a", "one");
    live.publish("b", "two");
    await expectText("a", "one");
    await expectText("again", "one");
    await expectText("b", "two");
    await expect.poll(() => live.openStreamCount).toBe(1);
    expect(live.requests.at(-1)?.channels.toSorted()).toEqual(["a", "b"]);
  });

  test("delivers messages that were published before the page subscribed", async () => {
    const address = pageOf([listener("a")]);
    live.publish("a", "early");
    await page.goto(address);
    await expectText("a", "early");
  });

  test("renders messages that arrive together once", async () => {
    await page.goto(pageOf([listener("a")]));
    await expect.poll(() => live.openStreamCount).toBe(1);
    const before = await page.evaluate("renderings()");
    live.publish("a", ...Array.from({ length: 50 }, (_, n) => `${n}`));
    await expectText("a", Array.from({ length: 50 }, (_, n) => n).join());
    expect(await page.evaluate("renderings()")).toBe(Number(before) + 1);
  });

  test("that is cut repeatedly loses no message, repeats none and keeps the order", async () => {
    await page.goto(pageOf([listener("a")]));
    for (let n = 0; n < 5; n++) {
      await expect.poll(() => live.openStreamCount).toBe(1);
      live.publish("a", `${n}-connected`);
      live.closeConnections();
      live.publish("a", `${n}-disconnected`);
    }
    await expectText("a", [0, 1, 2, 3, 4].flatMap((n) => [`${n}-connected`, `${n}-disconnected`]).join());
  });

  test("is replaced when a subscription is added or removed", async () => {
    await page.goto(pageOf([{ name: "Pair", props: { first: live.issueFeed("a"), second: live.issueFeed("b") } }]));
    await expect.poll(() => live.openStreamCount).toBe(1);
    live.publish("a", "one");
    await expectText("first", "one");
    live.publish("b", "waiting");
    await page.getByRole("button").click();
    await expectText("second", "waiting");
    expect(live.requests.at(-1)).toMatchObject({ channels: ["a", "b"], after: "e.1,e.0" });
    await page.getByRole("button").click();
    await expect.poll(() => live.requests.at(-1)?.channels).toEqual(["a"]);
    live.publish("a", "two");
    await expectText("first", "one,two");
    await expect.poll(() => live.openStreamCount).toBe(1);
  });

  test("is closed when the user leaves, and opened again when the page is restored", async () => {
    const keepsPages = await launch({ fullBrowser: true });
    onTestFinished(() => keepsPages.close());
    await page.context().close();
    await openPage(keepsPages);
    const address = pageOf([listener("a")]);
    await page.goto(address);
    await expect.poll(() => live.openStreamCount).toBe(1);
    await page.evaluate('addEventListener("pageshow", (event) => { persisted = event.persisted; })');
    await page.goto(server.page("<!doctype html><title>elsewhere</title>"));
    await expect.poll(() => live.openStreamCount).toBe(0);
    live.publish("a", "meanwhile");
    await startBack(page);
    await expectText("a", "meanwhile");
    expect(await page.evaluate("persisted")).toBe(true);
  });
});

describe("a page that cannot open an event stream", () => {
  test.each([
    ["a proxy responds with 502", 502, "text/html"],
    ["a firewall responds with 403", 403, "text/html"],
    ["a captive portal responds with a page", 200, "text/html"],
    ["the response is empty", 204, "text/plain"],
  ])("polls instead if %s", async (_, status, type) => {
    live.onRequest = (response, { endpoint }) => {
      if (endpoint === "live") response.writeHead(status, { "content-type": type }).end();
      return endpoint === "live";
    };
    /** Runs the clock, so that the delay before the next request takes no time. */
    const expectPoll = () =>
      expect
        .poll(async () => {
          await page.clock.runFor(500);
          return live.waitingPollCount;
        })
        .toBe(1);
    await installClock();
    await page.goto(pageOf([listener("a")]));
    await expectPoll();
    live.publish("a", "one", "two");
    await expectText("a", "one,two");
    await expectPoll();
    live.publish("a", "three");
    await expectText("a", "one,two,three");
    expect(cursors("poll")).toEqual(["e.0", "e.2"]);
    expect(consoleErrors).toEqual([]);
  });

  test("opens an event stream at once when it is online again", async () => {
    await page.goto(pageOf([listener("a")]));
    await expect.poll(() => live.openStreamCount).toBe(1);
    await page.context().setOffline(true);
    live.closeConnections();
    live.publish("a", "while offline");
    await page.context().setOffline(false);
    await expectText("a", "while offline");
    await expect.poll(() => live.openStreamCount).toBe(1);
  });
});

describe("a hidden page on HTTP/1.1", () => {
  /** Sets the visibility of the page. A headless browser reports every page as visible. */
  async function setHidden(hidden: boolean): Promise<void> {
    await page.evaluate((isHidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  }

  test("without locks ends its event stream, polls every 30 seconds, and misses no message", async () => {
    // As on a page of http: that is not localhost: it shares no connection.
    await page.addInitScript("Object.defineProperty(navigator, 'locks', { value: undefined })");
    await installClock();
    await page.goto(pageOf([listener("a")]));
    expect(await page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol")).toBe("http/1.1");
    await expect.poll(() => live.openStreamCount).toBe(1);
    // Otherwise the clock runs on with the real time, and the 2 seconds are over before the test has looked.
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 5_000);
    await setHidden(true);
    await page.clock.runFor(1_800);
    expect(live.openStreamCount).toBe(1);
    await page.clock.runFor(300);
    await expect
      .poll(() => [live.openStreamCount, live.requests.at(-1)?.endpoint, live.requests.at(-1)?.wait])
      .toEqual([0, "poll", "0"]);
    live.publish("a", "while hidden");
    const textAfter = async (ms: number) => {
      await page.clock.runFor(ms);
      return page.locator("#a").textContent();
    };
    await expect.poll(() => textAfter(31_000)).toBe("while hidden");
    live.publish("a", "while visible");
    await setHidden(false);
    await page.clock.runFor(10);
    await expect.poll(() => live.openStreamCount).toBe(1);
    await expectText("a", "while hidden,while visible");
    expect(live.requests.at(-1)).toMatchObject({ endpoint: "live", after: "e.1" });
  });
});

describe("a page with a gap", () => {
  test("is reloaded at once, and again after 30 seconds if the gap remains", async () => {
    let loads = 0;
    page.on("load", () => {
      loads += 1;
    });
    live.reportGap("a", "trimmed");
    /** Waits until the page was loaded `count` times, and the last page has received its gap and ended its stream. */
    const expectGap = (count: number) =>
      expect.poll(() => [loads, live.requests.length, live.openStreamCount]).toEqual([count, count, 0]);
    /** Runs the clock for 5 seconds, longer than the random delay before a reload. The page must remain. */
    const expectNoReload = async () => {
      await page.evaluate("globalThis.isSamePage = true");
      await page.clock.runFor(5_000);
      expect(await page.evaluate("globalThis.isSamePage")).toBe(true);
    };
    await installClock();
    await page.goto(pageOf([listener("a")]));
    await page.clock.fastForward(3_000);
    await expectGap(2);
    await expectNoReload(); // the clock also runs with the real time: these lines have 25 seconds
    await page.clock.fastForward(30_000);
    await expectGap(3);
    await expectNoReload();
    expect(consoleErrors).toEqual([]);
  });

  test("is reloaded with GET if it is the response to a form", async () => {
    const methods: string[] = [];
    page.on("request", (request) => void (request.isNavigationRequest() && methods.push(request.method())));
    await page.goto(pageOf([listener("a")]));
    await expect.poll(() => live.openStreamCount).toBe(1);
    await page.evaluate(() => {
      const form = Object.assign(document.createElement("form"), { method: "post", action: location.href });
      document.body.append(form);
      form.submit();
    });
    await expect.poll(() => [...methods, live.requests.length]).toEqual(["GET", "POST", 2]);
    live.reportGap("a", "trimmed");
    await expect.poll(() => methods).toEqual(["GET", "POST", "GET"]);
  });

  test("is not reloaded while a field has unsaved input", async () => {
    await installClock();
    await page.goto(pageOf([{ name: "Pair", props: { first: live.issueFeed("a"), second: live.issueFeed("b") } }]));
    await page.evaluate("globalThis.isSamePage = true");
    await page.locator("textarea").fill("Dear Ada");
    live.reportGap("a", "reset");
    await expect.poll(() => live.openStreamCount).toBe(0);
    await page.clock.runFor(20_000);
    expect(await page.evaluate("globalThis.isSamePage")).toBe(true);
    await page.locator("textarea").fill("");
    const reloaded = page.waitForEvent("load");
    await page.clock.runFor(2_000);
    await reloaded;
    expect(await page.evaluate("globalThis.isSamePage")).toBe(undefined);
  });

  test("is not reloaded if it has a gap handler", async () => {
    await page.goto(pageOf([listener("a", { hasGapHandler: true }), listener("b")]));
    await expect.poll(() => live.openStreamCount).toBe(1);
    live.reportGap("a", "trimmed");
    await expectText("a", "trimmed");
    live.publish("b", "goes on");
    await expectText("b", "goes on");
    expect(consoleErrors).toEqual([]);
  });
});

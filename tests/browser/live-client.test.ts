/**
 * The browser's part of live updates in Chromium, against a server that fails when it is told to.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FakeLiveServer } from "#test/fake-live-server";
import { launch } from "./chromium.ts";
import { buildScripts, documentOf, IslandServer, MARK, type PlacedView } from "./island-server.ts";

let browser: Browser;
let server: IslandServer;
let live: FakeLiveServer;
let page: Page;
/** Uncaught errors of the page. */
let errors: string[];
/** What the page said on its console as an error, but for the browser's own words on failed requests. */
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
  server.live = live.answer;
  page = await browser.newPage();
  errors = [];
  consoleErrors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      consoleErrors.push(message.text());
  });
});

afterEach(async () => {
  await page.context().close();
  await expect.poll(() => [live.open, live.waiting]).toEqual([0, 0]);
  expect(errors).toEqual([]);
});

/** Places views; a page is rendered anew at each visit, with feeds of that moment. */
function pageOf(placed: readonly PlacedView[]): string {
  const body = placed.map((_, i) => `<!--${MARK}:${i}--><!--/${MARK}:${i}-->`).join("");
  const views = placed.map((each) => ({ ...each, from: "subscriptions" }));
  return server.page(documentOf(body, views));
}

function listener(channel: string, more: Readonly<Record<string, unknown>> = {}): PlacedView {
  return { name: "Listener", props: { feed: live.feed(channel), name: channel, ...more } };
}

/** Waits until a view shows a text. */
async function expectText(id: string, text: string): Promise<void> {
  await expect.poll(() => page.locator(`#${id}`).textContent(), { timeout: 20_000 }).toBe(text);
}

const cursors = (kind: "live" | "poll") => live.asked.filter((each) => each.kind === kind).map(({ after }) => after);

describe("a stream", () => {
  test("brings messages to all views of the page, over one connection", async () => {
    await page.goto(pageOf([listener("a"), listener("b"), listener("a", { name: "again" })]));
    await expect.poll(() => live.open).toBe(1);
    live.publish("a", "one");
    live.publish("b", "two");
    await expectText("a", "one");
    await expectText("again", "one");
    await expectText("b", "two");
    await expect.poll(() => live.open).toBe(1);
    expect(live.asked.at(-1)?.channels.toSorted()).toEqual(["a", "b"]);
  });

  test("brings what was published before the page listened", async () => {
    const address = pageOf([listener("a")]);
    live.publish("a", "early");
    await page.goto(address);
    await expectText("a", "early");
  });

  test("has what came together handled and rendered together", async () => {
    await page.goto(pageOf([listener("a")]));
    await expect.poll(() => live.open).toBe(1);
    const before = await page.evaluate("renderings()");
    live.publish("a", ...Array.from({ length: 50 }, (_, n) => `${n}`));
    await expectText("a", Array.from({ length: 50 }, (_, n) => n).join());
    expect(await page.evaluate("renderings()")).toBe(Number(before) + 1);
  });

  test("that is cut again and again loses nothing, repeats nothing and keeps the order", async () => {
    await page.goto(pageOf([listener("a")]));
    for (let n = 0; n < 5; n++) {
      await expect.poll(() => live.open).toBe(1);
      live.publish("a", `${n}-there`);
      live.cut();
      live.publish("a", `${n}-away`);
    }
    await expectText("a", [0, 1, 2, 3, 4].flatMap((n) => [`${n}-there`, `${n}-away`]).join());
  });

  test("ends when nothing of the page listens any more, and grows by who comes", async () => {
    await page.goto(pageOf([{ name: "Pair", props: { first: live.feed("a"), second: live.feed("b") } }]));
    await expect.poll(() => live.open).toBe(1);
    live.publish("a", "one");
    await expectText("first", "one");
    live.publish("b", "waiting");
    await page.getByRole("button").click();
    await expectText("second", "waiting");
    expect(live.asked.at(-1)).toMatchObject({ channels: ["a", "b"], after: "e.1,e.0" });
    await page.getByRole("button").click();
    await expect.poll(() => live.asked.at(-1)?.channels).toEqual(["a"]);
    live.publish("a", "two");
    await expectText("first", "one,two");
    await expect.poll(() => live.open).toBe(1);
  });

  test("is let go when the visitor leaves, and resumed where the browser brings the page back", async () => {
    const address = pageOf([listener("a")]);
    await page.goto(address);
    await expect.poll(() => live.open).toBe(1);
    await page.goto(server.page("<!doctype html><title>elsewhere</title>"));
    await expect.poll(() => live.open).toBe(0);
    live.publish("a", "meanwhile");
    await page.goBack();
    await expectText("a", "meanwhile");
  });
});

describe("where no stream comes through", () => {
  test.each([
    ["a proxy refuses it", 502, "text/html"],
    ["a firewall forbids it", 403, "text/html"],
    ["a portal puts its own page there", 200, "text/html"],
    ["nothing comes at all", 204, "text/plain"],
  ])("polls take over: %s", async (_, status, type) => {
    live.fault = (response, { kind }) => {
      if (kind === "live") response.writeHead(status, { "content-type": type }).end();
      return kind === "live";
    };
    await page.goto(pageOf([listener("a")]));
    await expect.poll(() => live.waiting, { timeout: 20_000 }).toBe(1);
    live.publish("a", "one", "two");
    await expectText("a", "one,two");
    await expect.poll(() => live.waiting, { timeout: 20_000 }).toBe(1);
    live.publish("a", "three");
    await expectText("a", "one,two,three");
    expect(cursors("poll")).toEqual(["e.0", "e.2"]);
    expect(consoleErrors).toEqual([]);
  });

  test("and back online, the page streams at once", async () => {
    await page.goto(pageOf([listener("a")]));
    await expect.poll(() => live.open).toBe(1);
    await page.context().setOffline(true);
    live.cut();
    live.publish("a", "while away");
    await page.context().setOffline(false);
    await expectText("a", "while away");
    await expect.poll(() => live.open).toBe(1);
  });
});

describe("a page out of sight, on HTTP/1.1", () => {
  /** Sets what the page knows of its visibility: headless, every page counts as looked at. */
  async function setHidden(hidden: boolean): Promise<void> {
    await page.evaluate((isHidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  }

  test("gives its stream back, asks every 30 seconds, and misses nothing", async () => {
    // A page whose clock is ours has lost how it was loaded, too: it gets that back.
    await page.addInitScript("globalThis.entries = performance.getEntriesByType.bind(performance)");
    await page.clock.install();
    await page.addInitScript("performance.getEntriesByType = globalThis.entries");
    await page.goto(pageOf([listener("a")]));
    expect(await page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol")).toBe("http/1.1");
    await expect.poll(() => live.open).toBe(1);
    await setHidden(true);
    await page.clock.fastForward(1_800);
    expect(live.open).toBe(1);
    await page.clock.fastForward(300);
    await expect.poll(() => [live.open, live.asked.at(-1)?.kind, live.asked.at(-1)?.wait]).toEqual([0, "poll", "0"]);
    live.publish("a", "unseen");
    await page.clock.fastForward(31_000);
    await expectText("a", "unseen");
    live.publish("a", "looked at");
    await setHidden(false);
    await page.clock.runFor(10);
    await expect.poll(() => live.open).toBe(1);
    await expectText("a", "unseen,looked at");
    expect(live.asked.at(-1)).toMatchObject({ kind: "live", after: "e.1" });
  });
});

describe("a page that missed something", () => {
  test("is reloaded once, and says so when that did not help", async () => {
    let visits = 0;
    page.on("load", () => {
      visits += 1;
    });
    live.lose("a", "trimmed");
    await page.goto(pageOf([listener("a")]));
    await expect
      .poll(() => consoleErrors, { timeout: 20_000 })
      .toEqual(["Missed live updates (trimmed). Reload the page."]);
    expect(visits).toBe(2);
    expect(live.asked.length).toBe(2);
  });

  test("is not reloaded while something half typed is in it", async () => {
    await page.clock.install();
    await page.goto(pageOf([{ name: "Pair", props: { first: live.feed("a"), second: live.feed("b") } }]));
    await page.evaluate("globalThis.isTheSame = true");
    await page.locator("textarea").fill("Dear Ada");
    live.lose("a", "reset");
    await expect.poll(() => live.open).toBe(0);
    await page.clock.runFor(20_000);
    expect(await page.evaluate("globalThis.isTheSame")).toBe(true);
    await page.locator("textarea").fill("");
    const reloaded = page.waitForEvent("load");
    await page.clock.runFor(2_000);
    await reloaded;
    expect(await page.evaluate("globalThis.isTheSame")).toBe(undefined);
  });

  test("is told, where it has a word for it, and not reloaded", async () => {
    await page.goto(pageOf([listener("a", { tells: true }), listener("b")]));
    await expect.poll(() => live.open).toBe(1);
    live.lose("a", "trimmed");
    await expectText("a", "trimmed");
    live.publish("b", "goes on");
    await expectText("b", "goes on");
    expect(consoleErrors).toEqual([]);
  });
});

/**
 * A built application with live updates in Chromium.
 */
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { repository } from "#test/copy-example";
import { build, type RunningServer, startBuilt } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";

const ENV = { WEB_ENV: "development", WEB_AUTH_SECRET: `${"6d".repeat(15)}0123456789abcdef${"2b".repeat(9)}` };

let browser: Browser;
let project: TestProject;
let running: RunningServer;
let users: BrowserUsers;

beforeAll(async () => {
  project = TestProject.copy(`${repository}/tests/browser/fixtures/live`);
  project.write("public/favicon.ico", "");
  await build(project.dir);
  running = await startBuilt(project.dir, ENV);
  browser = await launch();
  users = new BrowserUsers(browser, { baseURL: running.address });
});

afterEach(async () => {
  await users?.closeAll();
});

afterAll(async () => {
  await browser?.close();
  expect(await running?.stop()).toBe(0);
  project?.remove();
});

/** Opens the room, and waits until it requests the event stream: then it is hydrated. */
async function enter(page: Page): Promise<Page> {
  await Promise.all([page.waitForRequest(/__web.live/), page.goto("/room")]);
  return page;
}

async function sendMessage(page: Page, text: string): Promise<void> {
  await page.locator("input").fill(text);
  await page.locator("input").press("Enter");
  await expect.poll(() => page.locator("input").inputValue()).toBe(""); // the page clears it when the message is sent
}

/** Returns the messages that a page shows. */
const texts = (page: Page) => page.locator("li").allTextContents();

/** Records the paths of all requests of a page. */
function watchPaths(page: Page): string[] {
  const paths: string[] = [];
  page.on("request", (request) => paths.push(new URL(request.url()).pathname));
  return paths;
}

describe("a page with live updates", () => {
  it("shows every message to every user, in order and once", async () => {
    const ada = await enter(await users.reusePage());
    const grace = await enter(await users.reusePage());
    await sendMessage(ada, "one");
    await expect.poll(() => texts(grace)).toEqual(["one"]);
    await sendMessage(grace, "two");
    await expect.poll(() => texts(ada)).toEqual(["one", "two"]);
    await expect.poll(() => texts(grace)).toEqual(["one", "two"]);
    await expect.poll(() => grace.locator("output").textContent()).toBe("3");
    expect(users.problems.splice(0)).toEqual([]);
  });

  it("submits no form before hydration, and keeps the input [RESPONSE-3]", async () => {
    const page = await users.reusePage();
    const delayedRoutes: Route[] = [];
    await page.route(/\/assets\/.*\.js$/, (route) => void delayedRoutes.push(route));
    await page.goto("/room", { waitUntil: "commit" });
    await page.locator("input").fill("early");
    const paths = watchPaths(page);
    await page.locator("input").press("Enter");
    await page.evaluate(() => document.forms[0]?.requestSubmit());
    expect(new URL(page.url()).href).toBe(`${running.address}/room`);
    expect(await page.locator("input").inputValue()).toBe("early");
    expect(paths.filter((path) => path === "/room")).toEqual([]);
    await Promise.all([page.waitForRequest(/__web.live/), ...delayedRoutes.map((route) => route.continue())]);
    await page.locator("input").press("Enter");
    await expect.poll(() => texts(page)).toContain("early");
  });

  it("receives all messages over one connection", async () => {
    const page = await users.reusePage();
    const paths = watchPaths(page);
    await enter(page);
    for (const text of ["one", "two", "three"]) await sendMessage(page, text);
    await expect.poll(() => texts(page)).toEqual(["one", "two", "three"]);
    expect(paths.filter((path) => path.startsWith("/__web/live") || path.startsWith("/__web/poll"))).toEqual([
      "/__web/live",
    ]);
  });

  it("is reloaded when a feed with a short ttl expires, and then receives new messages with a new feed", async () => {
    const page = await users.reusePage();
    await Promise.all([page.waitForRequest(/__web.live/), page.goto("/brief")]);
    await page.waitForRequest(/brief$/);
    await page.waitForRequest(/__web.live/);
    await sendMessage(page, "with the new feed");
    await expect.poll(() => texts(page)).toEqual(["with the new feed"]);
  });

  it("is reloaded if a restarted server has lost its messages, and then receives new messages", async () => {
    const page = await enter(await users.reusePage());
    await sendMessage(page, "before");
    await expect.poll(() => texts(page)).toEqual(["before"]);
    const reconnected = page
      .waitForRequest(/room$/, { timeout: 40_000 })
      .then(() => page.waitForRequest(/__web.live/, { timeout: 40_000 }));
    await running.stop();
    running = await startBuilt(project.dir, { ...ENV, PORT: new URL(running.address).port });
    await reconnected;
    expect(await texts(page)).toEqual([]);
    await sendMessage(page, "after");
    await expect.poll(() => texts(page)).toEqual(["after"]);
    users.problems.splice(0); // the browser's reports of the stopped server
  });
});

describe("seven tabs of one site", () => {
  /** Sets the visibility of a tab, which a headless browser always reports as visible, and advances its clock. */
  async function setHidden(page: Page, hidden: boolean): Promise<void> {
    await page.evaluate((isHidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
    await page.clock.runFor(hidden ? 31_000 : 100);
  }

  // On HTTP/1.1 a browser has six connections per site: seven event streams would block all calls.
  it("leave connections for calls, and show all messages when they become visible", { timeout: 120_000 }, async () => {
    const context = (await users.newPage()).context();
    // The fake clock replaces `getEntriesByType`: restore it.
    await context.addInitScript("globalThis.entries = performance.getEntriesByType.bind(performance)");
    await context.clock.install();
    await context.addInitScript("performance.getEntriesByType = globalThis.entries");
    const tabs: Page[] = [];
    for (let n = 0; n < 7; n++) {
      const tab = await enter(await context.newPage());
      tabs.push(tab);
      if (n < 6) await setHidden(tab, true);
    }
    const last = tabs.at(-1) as Page; // there are seven
    for (const text of ["one", "two", "three"]) await sendMessage(last, text);
    await expect.poll(() => texts(last)).toEqual(["one", "two", "three"]);
    await setHidden(last, true);
    for (const tab of tabs) {
      await setHidden(tab, false);
      await expect.poll(() => texts(tab)).toEqual(["one", "two", "three"]);
      await setHidden(tab, true);
    }
  });
});

describe("the scripts of live updates", () => {
  /** Returns the text of all scripts that a page loads until `isHydrated` resolves. */
  async function scriptsOf(path: string, isHydrated: (page: Page) => Promise<unknown>): Promise<string> {
    const page = await users.newPage();
    const urls = new Set<string>();
    page.on("request", (request) => {
      if (request.url().endsWith(".js")) urls.add(request.url());
    });
    await Promise.all([isHydrated(page), page.goto(path)]);
    return (await Promise.all([...urls].map(async (url) => (await fetch(url)).text()))).join();
  }

  // `nextHopProtocol` occurs only in the part for live updates.
  it("are loaded only by pages that subscribe", async () => {
    const subscribing = await scriptsOf("/room", (page) => page.waitForRequest(/__web.live/));
    expect(subscribing).toContain("nextHopProtocol");
    const other = await scriptsOf("/", (page) => page.waitForLoadState("networkidle"));
    expect(other).toContain("__web/rpc");
    expect(other).not.toContain("nextHopProtocol");
  });
});

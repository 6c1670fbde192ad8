/**
 * A built application with live updates in Chromium: the browser's part and the server's together.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { repository } from "../support/copy-example.ts";
import { build, type Running, startBuilt } from "../support/run-tsweb.ts";
import { Site } from "../support/site.ts";
import { Visitors } from "../support/visitors.ts";
import { launch } from "./chromium.ts";

const ENV = { WEB_ENV: "development", WEB_AUTH_SECRET: `${"6d".repeat(15)}0123456789abcdef${"2b".repeat(9)}` };

let browser: Browser;
let site: Site;
let running: Running;
let visitors: Visitors;

beforeAll(async () => {
  site = Site.copy(`${repository}/tests/browser/fixtures/live`);
  site.write("public/favicon.ico", "");
  await build(site.dir);
  running = await startBuilt(site.dir, ENV);
  browser = await launch();
  visitors = new Visitors(browser, { baseURL: running.address });
});

afterEach(async () => {
  await visitors?.leave();
});

afterAll(async () => {
  await browser?.close();
  expect(await running?.stop()).toBe(0);
  site?.remove();
});

async function enter(): Promise<Page> {
  const page = await visitors.arrive();
  await page.goto("/room");
  return page;
}

async function say(page: Page, text: string): Promise<void> {
  await page.locator("input").fill(text);
  await page.locator("input").press("Enter");
}

/** What a page shows of the room. */
const texts = (page: Page) => page.locator("li").allTextContents();

/** What went over the network for a page, by path. */
function watchPaths(page: Page): string[] {
  const paths: string[] = [];
  page.on("request", (request) => paths.push(new URL(request.url()).pathname));
  return paths;
}

describe("a room", () => {
  it("shows everybody what is said, in order, and once", async () => {
    const [ada, grace] = [await enter(), await enter()];
    await say(ada, "one");
    await expect.poll(() => texts(grace)).toEqual(["one"]);
    await say(grace, "two");
    await expect.poll(() => texts(ada)).toEqual(["one", "two"]);
    await expect.poll(() => texts(grace)).toEqual(["one", "two"]);
    await expect.poll(() => grace.locator("output").textContent()).toBe("3");
    expect(visitors.complaints.splice(0)).toEqual([]);
  });

  it("has one connection for as long as it is there", async () => {
    const page = await visitors.arrive();
    const paths = watchPaths(page);
    await page.goto("/room");
    for (const text of ["one", "two", "three"]) await say(page, text);
    await expect.poll(() => texts(page)).toEqual(["one", "two", "three"]);
    expect(paths.filter((path) => path.startsWith("/__web/live") || path.startsWith("/__web/poll"))).toEqual([
      "/__web/live",
    ]);
  });

  it("is reloaded when the server's memory is gone, and goes on from there", async () => {
    const page = await enter();
    await say(page, "before");
    await expect.poll(() => texts(page)).toEqual(["before"]);
    const reloaded = page.waitForEvent("load", { timeout: 40_000 });
    await running.stop();
    running = await startBuilt(site.dir, { ...ENV, PORT: new URL(running.address).port });
    await reloaded;
    await expect.poll(() => texts(page)).toEqual([]);
    await say(page, "after");
    await expect.poll(() => texts(page)).toEqual(["after"]);
    visitors.complaints.splice(0); // the browser's own words on the server that was away
  });
});

describe("the script of live updates", () => {
  /** Gives all the scripts that a page loads, until something happens that shows that it is alive. */
  async function scriptsOf(path: string, isAlive: (page: Page) => Promise<unknown>): Promise<string> {
    const page = await visitors.arrive();
    const scripts: Promise<string>[] = [];
    page.on("response", (response) => {
      if (response.url().endsWith(".js")) scripts.push(response.text());
    });
    await Promise.all([isAlive(page), page.goto(path)]);
    return (await Promise.all(scripts)).join();
  }

  // A name of the browser's that nothing else of ours asks for.
  it("is loaded by the page that listens, and not by one that does not", async () => {
    const listening = await scriptsOf("/room", (page) => page.waitForRequest(/__web.live/));
    expect(listening).toContain("nextHopProtocol");
    const other = await scriptsOf("/", (page) => page.waitForLoadState("networkidle"));
    expect(other).toContain("__web/rpc");
    expect(other).not.toContain("nextHopProtocol");
  });
});

/** Views below the fold, which are hydrated when they come near the screen, or when the browser is idle. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { type RunningServer, startBuilt, startDev } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";
import { buildShop } from "./navigation-app.ts";

let project: TestProject;
let servers: Record<string, RunningServer>;
let browser: Browser;
let users: BrowserUsers;
let page: Page;
let requests: string[];

beforeAll(async () => {
  [browser, project] = await Promise.all([launch(), buildShop()]);
  servers = { built: await startBuilt(project.dir, { WEB_ENV: "development" }), dev: await startDev(project.dir) };
});

afterAll(async () => {
  await browser?.close();
  await Promise.all(Object.values(servers ?? {}).map((server) => server.stop()));
  project?.remove();
});

beforeEach(async () => {
  users = new BrowserUsers(browser, {});
  page = await users.newPage();
  requests = [];
  page.on("request", (request) => requests.push(request.url()));
});

afterEach(async () => {
  await users.closeAll();
  expect(users.problems).toEqual([]);
});

const isHydrated = (name: string) => page.waitForSelector(`html[data-${name}=yes]`, { state: "attached" });
const loaded = (file: string) =>
  requests.filter((url) => new RegExp(`/${file}(-[\\w-]+)?\\.(js|tsx)(\\?|$)`).test(url)).length;

it.each(["built", "dev"])(
  "loads the script of a view when it comes near the screen, and keeps its props (%s)",
  async (kind) => {
    await page.goto(`${servers[kind]?.address}/shop/views`);
    await isHydrated("now");
    await isHydrated("later");
    await page.click("#later");
    expect(await page.textContent("#later")).toBe("3");
    expect(loaded("low")).toBe(0);
    expect(await page.locator("#low").allTextContents()).toEqual(["3", "4"]);
    await page.locator("#low").nth(1).scrollIntoViewIfNeeded();
    await isHydrated("low");
    await page.locator("#low").nth(1).click();
    await expect.poll(() => page.locator("#low").allTextContents()).toEqual(["3", "5"]);
    expect(loaded("low")).toBe(1);
  },
);

it("loads nothing of that on a page whose views are hydrated at once", async () => {
  await page.goto(`${servers.built?.address}/shop/views/now`);
  await isHydrated("now");
  expect(loaded("deferred")).toBe(0);
  expect(await page.content()).not.toContain("deferred");
});

/**
 * Two processes on one bus behind one address, in Chromium: what the user has changed in one is shown by the other.
 * @see docs/navigation.md
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { Nginx } from "#test/nginx";
import { ProcessPair } from "#test/process-pair";
import { RedisServer } from "#test/redis-server";
import type { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";
import { buildPages } from "./site-app.ts";

let project: TestProject;
let pair: ProcessPair;
let nginx: Nginx;
let browser: Browser;
let users: BrowserUsers;
let page: Page;

beforeAll(async () => {
  [browser, project] = await Promise.all([launch(), buildPages()]);
  pair = await ProcessPair.start(project.dir, () => RedisServer.start());
  const [pages, calls] = pair.apps;
  nginx = await Nginx.start({
    ports: [],
    site: (port) => `server {
      listen 127.0.0.1:${port};
      proxy_set_header Host $http_host;
      location / { proxy_pass ${pages.address}; }
      location /__web/rpc/ { proxy_pass ${calls.address}; }
    }`,
  });
});

afterAll(async () => {
  await browser?.close();
  await nginx?.stop();
  await pair?.stop();
  project?.remove();
});

beforeEach(async () => {
  users = new BrowserUsers(browser, { baseURL: nginx.address });
  page = await users.newPage();
});

afterEach(async () => {
  await users.closeAll();
  expect(users.problems).toEqual([]);
});

/** Opens the first page, whose view works once it shows what is typed. */
async function open(): Promise<void> {
  await page.goto("/links");
  await page.waitForLoadState("networkidle");
}

/** Prefetches the page of a link. */
async function prefetch(path: string): Promise<void> {
  const isFinished = page.waitForEvent("requestfinished", (request) => request.url().endsWith(path));
  await page.hover(`#${path.slice(1)}`);
  await isFinished;
}

/** Changes the value by a call, and returns the process that has handled it. */
async function change(text: string): Promise<string | null> {
  await page.fill("input", text);
  await page.click("button");
  await page.locator('output:not(:text-is("0"))').waitFor();
  return page.textContent("output");
}

const shown = async () => [await page.textContent("#value"), await page.textContent("#process")];

it("a prefetched page is not shown after a call that another process has handled", async () => {
  await open();
  await prefetch("/rendered");
  const caller = await change("changed");
  await page.click("#rendered");
  const [value, renderer] = await shown();
  expect(value).toBe("changed");
  expect(renderer).not.toBe(caller);
});

it("a cached page that one process has revalidated is rendered again by the other, also if it was prefetched", async () => {
  await expect
    .poll(async () => {
      await page.goto("/news"); // kept once the process receives revalidations
      return (await page.request.get("/news")).headers()["cache-control"];
    })
    .toBe("public, s-maxage=600");
  await open();
  await prefetch("/news");
  const caller = await change("revalidated");
  await page.click("#news");
  await page.locator("#value").waitFor();
  await expect
    .poll(async () => {
      const [value] = await shown();
      if (value !== "revalidated") await page.reload(); // the other process may not have the message yet
      return value;
    })
    .toBe("revalidated");
  expect((await shown())[1]).not.toBe(caller);
});

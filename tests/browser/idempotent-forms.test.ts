/**
 * Forms of idempotent functions in Chromium: what is sent again has the first outcome, also from a page that is kept for Back.
 * @see docs/protocol.md 15.8
 */
import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { type LocalServer, listen } from "#test/listen";
import { RedisServer } from "#test/redis-server";
import { startBack, withFullBrowser } from "./chromium.ts";
import { buildPages, serveInBrowser } from "./site-app.ts";

const app = serveInBrowser(buildPages);
let page: Page;
let item: string;

let items = 0;
beforeEach(() => {
  page = app.page;
  item = `tea ${++items}`;
});

const runs = () => readFileSync(app.project.file("runs"), "utf8").split("\n").slice(0, -1);
const runsOf = (name: string) => runs().filter((run) => run === name).length;

/** Opens the page of a form, which may be that of another server, and fills in the form. */
async function open(path: string, server = app.running.address): Promise<void> {
  await page.goto(`${server}/${path}`);
  if (path === "script") await page.locator("html[data-ready=yes]").waitFor({ state: "attached" });
  await page.fill("#order input", item);
}

/** Returns the result of an order, once it is shown. */
async function outcome(): Promise<string | null> {
  await expect.poll(() => page.url()).toMatch(/\/thanks\//); // a second click ends the first navigation
  return page.textContent("output");
}

describe.each(["plain", "script"])("a form of an idempotent function on the page /%s", (path) => {
  it("runs once for a double click [ONCE-10]", async () => {
    await open(path);
    await page.dblclick("#order button");
    expect(await outcome()).toBe(`order ${runs().length}`);
    expect(runsOf(item)).toBe(1);
  });

  it("has the first outcome after Back, and runs for other fields [ONCE-11]", () =>
    withFullBrowser({}, async (users) => {
      page = await users.newPage();
      await open(path);
      await page.evaluate("globalThis.shows = 0; addEventListener('pageshow', () => globalThis.shows++)");
      await page.click("#order button");
      const first = await outcome();
      await startBack(page);
      await page.waitForURL(new RegExp(`/${path}$`), { waitUntil: "commit" });
      await expect.poll(() => page.evaluate("globalThis.shows")).toBe(1); // before it, no user could click
      await page.fill("#order input", item);
      await page.click("#order button");
      expect(await outcome()).toBe(first);
      expect(runsOf(item)).toBe(1);
      await startBack(page);
      await page.waitForURL(new RegExp(`/${path}$`), { waitUntil: "commit" });
      await expect.poll(() => page.evaluate("globalThis.shows")).toBe(2);
      await page.fill("#order input", `more ${item}`);
      await page.click("#order button");
      expect(await outcome()).not.toBe(first);
      expect(runsOf(`more ${item}`)).toBe(1);
    }));
});

it("shows the first outcome when the page that answered is reloaded [ONCE-12]", async () => {
  await page.goto("/plain");
  await page.fill("#show input", item);
  await page.click("#show button");
  await page.waitForURL(/__form=show/);
  const first = await page.textContent("output");
  expect(first).toBe(`order ${runs().length}`);
  await page.reload();
  expect(await page.textContent("output")).toBe(first);
  expect(runsOf(item)).toBe(1);
});

it("runs a call in the browser once for its key", async () => {
  await page.goto("/script");
  await page.locator("html[data-ready=yes]").waitFor({ state: "attached" });
  await page.click("#call");
  await expect.poll(() => page.textContent("output")).toMatch(/^order \d+$/);
  const first = await page.textContent("output");
  await page.click("#call");
  await expect.poll(() => page.textContent("output")).toBe(`${first},${first}`);
  expect(runsOf("call")).toBe(1);
});

describe("a page that Back loads again", () => {
  /** Orders, goes back, and orders again. Returns both outcomes. */
  async function orderTwice(path: string) {
    await open(path);
    await page.evaluate(() => Object.assign(globalThis, { isMarked: true }));
    await page.click("#order button");
    const first = await outcome();
    await startBack(page);
    await page.waitForURL(new RegExp(`/${path}$`));
    expect(await page.evaluate("globalThis.isMarked")).toBeUndefined();
    if (path === "script") await page.locator("html[data-ready=yes]").waitFor({ state: "attached" });
    await page.fill("#order input", item);
    await page.click("#order button");
    return [first, await outcome()];
  }

  it("sends a form of a script with its first key, and gets the first outcome [ONCE-14]", async () => {
    const [first, second] = await orderTwice("script");
    expect(second).toBe(first);
    expect(runsOf(item)).toBe(1);
    await open("script"); // no Back: another submission
    await page.click("#order button");
    await outcome();
    expect(runsOf(item)).toBe(2);
  });

  it("has a new key if its form is sent without script", async () => {
    const [first, second] = await orderTwice("plain");
    expect(second).not.toBe(first);
    expect(runsOf(item)).toBe(2);
  });
});

describe("two processes on one Redis", () => {
  let redis: RedisServer;
  let apps: AppProcess[];
  let balancer: LocalServer;

  beforeAll(async () => {
    redis = await RedisServer.start();
    const env = sharedEnv(redis.url);
    apps = await Promise.all([AppProcess.start(app.project.dir, env), AppProcess.start(app.project.dir, env)]);
    let next = 0; // the next request always goes to the other process
    balancer = await listen((request, response) => {
      const target = next++ % 2;
      const { method, headers } = request;
      const forwarded = httpRequest(`${apps[target]?.address}${request.url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      forwarded.on("error", () => response.destroy()); // the browser has ended the first request of a double click
      response.on("close", () => forwarded.destroy());
      request.pipe(forwarded);
    });
  });

  afterAll(async () => {
    await balancer?.close();
    await Promise.all((apps ?? []).map((one) => one.stop()));
    await redis?.stop();
  });

  it.each(["plain", "script"])("run a double click on the page /%s once [ONCE-15]", async (path) => {
    await open(path, balancer.address);
    await page.dblclick("#order button");
    expect(await outcome()).toBe(`order ${runs().length}`);
    expect(runsOf(item)).toBe(1);
  });
});

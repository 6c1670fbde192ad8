/**
 * Tabs that share a connection for live updates in a built application, with users who sign in, in Chromium on HTTP/1.1.
 */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callFunction } from "#test/call-function";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";
import { buildPages } from "./site-app.ts";

const ENV = { WEB_ENV: "development", WEB_AUTH_SECRET: "0123456789abcdef".repeat(4) };

let browser: Browser;
let project: TestProject;
let running: RunningServer;

beforeAll(async () => {
  project = await buildPages();
  running = await startBuilt(project.dir, ENV);
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  expect(await running?.stop()).toBe(0);
  project?.remove();
});

/** The requests for event streams of a context. */
interface StreamRequest {
  readonly page: Page;
  readonly feeds: readonly string[];
}

/** Opens a context of a user, and records its requests for event streams. */
async function newUser(user?: string): Promise<[BrowserContext, StreamRequest[]]> {
  const context = await browser.newContext({ baseURL: running.address });
  if (user !== undefined) {
    const response = await context.request.post("/__web/rpc/enter", { data: { args: { name: user } } });
    expect(response.status()).toBe(200);
  }
  const requests: StreamRequest[] = [];
  context.on("request", (request) => {
    if (request.url().endsWith("/__web/live"))
      requests.push({ page: request.frame().page(), feeds: request.postDataJSON().feeds });
  });
  return [context, requests];
}

async function openTab(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto("/tabs");
  return page;
}

const say = (channel: string, text: string) => callFunction(running.address, "say", { channel, text });
const texts = (page: Page) => page.locator("li").allTextContents();
const channelOf = (feed: string) => Buffer.from(feed, "base64url").toString().split("\n")[2];

it("nine tabs on HTTP/1.1 are live over one connection, and their calls get responses", async () => {
  const [context, requests] = await newUser();
  const tabs: Page[] = [];
  for (let n = 0; n < 9; n++) tabs.push(await openTab(context));
  expect(await tabs[8]?.evaluate(() => performance.getEntriesByType("navigation")[0]?.toJSON().nextHopProtocol)).toBe(
    "http/1.1",
  );
  await say("user:nobody", "hello");
  for (const tab of tabs) await expect.poll(() => texts(tab)).toEqual(["hello"]);
  for (const tab of tabs) {
    await tab.locator("#double").click();
    await expect.poll(() => tab.locator("#double").textContent()).toBe("42");
  }
  expect(new Set(requests.map(({ page }) => page)).size).toBe(1);
  await context.close();
});

it("a page receives the messages of sixty channels over one connection", async () => {
  const [context, requests] = await newUser();
  const page = await context.newPage();
  await page.goto("/many");
  const channels = Array.from({ length: 60 }, (_, n) => `many:${n}`);
  for (const round of ["one ", "two "]) for (const channel of channels) await say(channel, `${round}${channel} `);
  await expect.poll(() => texts(page)).toEqual(channels.map((channel) => `one ${channel} two ${channel} `));
  expect(requests.map(({ feeds }) => feeds.length)).toEqual([60]);
  await context.close();
});

it("the streams of two users never cross [LIVE-50]", async () => {
  const [ada, adaRequests] = await newUser("ada");
  const [grace, graceRequests] = await newUser("grace");
  const tabs = [await openTab(ada), await openTab(grace), await openTab(ada), await openTab(grace)] as const;
  await Promise.all([say("user:ada", "for Ada"), say("user:grace", "for Grace")]);
  for (const [i, text] of ["for Ada", "for Grace", "for Ada", "for Grace"].entries())
    await expect.poll(() => texts(tabs[i] as Page)).toEqual([text]);
  expect(new Set(adaRequests.flatMap(({ feeds }) => feeds.map(channelOf)))).toEqual(new Set(["user:ada"]));
  expect(new Set(graceRequests.flatMap(({ feeds }) => feeds.map(channelOf)))).toEqual(new Set(["user:grace"]));
  await ada.close();
  await grace.close();
});

it("a tab that signs in another user ends the feeds of the other tabs, which reload [LIVE-51]", async () => {
  const [context, requests] = await newUser("ada");
  const first = await openTab(context);
  const second = await openTab(context);
  await say("user:ada", "one");
  for (const tab of [first, second]) await expect.poll(() => texts(tab)).toEqual(["one"]);
  const other = await openTab(context);
  const before = requests.length;
  await other.locator("#grace").click();
  for (const tab of [other, first, second])
    await expect.poll(() => tab.locator("h1").textContent(), { timeout: 20_000 }).toBe("grace");
  await say("user:ada", "secret");
  await say("user:grace", "hello");
  for (const tab of [other, first, second]) await expect.poll(() => texts(tab)).toEqual(["hello"]);
  // A request has the feeds of one sign-in only.
  for (const { feeds } of requests.slice(before)) expect(new Set(feeds.map(channelOf)).size).toBeLessThanOrEqual(1);
  await context.close();
});

/**
 * Presence in Chromium: the pages of two users, in several tabs, served by two processes.
 */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { buildPresenceApp } from "#test/presence-app";
import { postInit } from "#test/presence-client";
import { RedisServer } from "#test/redis-server";
import type { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";

let browser: Browser;
let project: TestProject;
let redis: RedisServer;
let processes: [AppProcess, AppProcess];
const contexts: BrowserContext[] = [];
const problems: string[] = [];

beforeAll(async () => {
  [browser, project, redis] = await Promise.all([
    launch(),
    buildPresenceApp(),
    RedisServer.start({ appendOnly: true }),
  ]);
  const env = { ...sharedEnv(redis.url), WEB_TRUST_PROXY: "0" };
  processes = await Promise.all([AppProcess.start(project.dir, env), AppProcess.start(project.dir, env)]);
});

afterEach(async () => {
  for (const page of contexts.flatMap((context) => context.pages())) await page.close();
  // The next test starts with an empty list. A page whose browser is closed at the same time may not say that it is left.
  await expect.poll(() => usersOf(processes[0]), { timeout: 40_000 }).toEqual([]);
  for (const context of contexts.splice(0)) await context.close();
  expect(problems.splice(0)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  for (const process of processes ?? []) await process.stop();
  await redis?.stop();
  project?.remove();
});

/** Returns a browser in which a user is signed in. */
async function browserOf(user: string, server: AppProcess = processes[0], from = browser) {
  const context = await from.newContext({ baseURL: server.address });
  contexts.push(context);
  const response = await context.request.post("/__web/rpc/enter", { data: { args: { user } } });
  expect(response.status()).toBe(200);
  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" && !message.location().url.endsWith("/favicon.ico")) problems.push(message.text());
    });
    await page.goto("/");
    return page;
  };
  return { context, open };
}

/** Returns who is present, by the function `who`. */
async function usersOf(server: AppProcess): Promise<unknown[]> {
  const response = await fetch(`${server.address}/__web/rpc/people`, postInit({ args: { room: "room" } }));
  return (await response.json()).result;
}

const listOf = (page: Page) =>
  page.evaluate(() =>
    Array.from(document.querySelectorAll("li"), (item) => (item.textContent ?? "").trim().replace(/\s+/g, " ")),
  );

const expectList = (page: Page, list: readonly string[]) => expect.poll(() => listOf(page)).toEqual(list);

describe("presence in a browser", () => {
  it("shows two users of two processes each other, with their tabs and what they type", async () => {
    const [ada, bob] = [await browserOf("ada"), await browserOf("bob", processes[1])];
    const page = await ada.open();
    await expectList(page, ["ADA 1"]);
    const other = await bob.open();
    await expectList(page, ["ADA 1", "BOB 1"]);
    await expectList(other, ["ADA 1", "BOB 1"]);
    const second = await ada.open();
    for (const each of [page, second, other]) await expectList(each, ["ADA 2", "BOB 1"]);
    await other.locator("input").pressSequentially("hello", { delay: 20 });
    for (const each of [page, second, other]) await expectList(each, ["ADA 2", "BOB 1 hello"]);
    await second.close();
    for (const each of [page, other]) await expectList(each, ["ADA 1", "BOB 1 hello"]);
    await page.reload();
    await expectList(page, ["ADA 1", "BOB 1 hello"]);
    await other.close();
    await expectList(page, ["ADA 1"]);
  });

  it("is in the markup of the server, and makes nobody present who was only sent the page", async () => {
    const [ada, bob] = [await browserOf("ada"), await browserOf("bob")];
    const page = await ada.open();
    await expectList(page, ["ADA 1"]);
    for (const purpose of ["", "prefetch", "prefetch;prerender"]) {
      const response = await bob.context.request.get("/", { headers: { "sec-purpose": purpose } });
      expect(await response.text()).toContain("ADA");
    }
    // What is read after the next change of the list would contain bob.
    await page.locator("input").fill("x");
    await expectList(page, ["ADA 1 x"]);
  });

  it("makes nobody present whose page is prerendered, until it is shown", async () => {
    const [ada, bob] = [await browserOf("ada"), await browserOf("bob")];
    const page = await ada.open();
    await bob.context.addInitScript(() => {
      Object.defineProperty(document, "prerendering", { value: true, configurable: true });
    });
    const other = await bob.open();
    await other.getByText("Toggle").click();
    await other.locator("ul").waitFor({ state: "detached" }); // its components are in the page
    await page.locator("input").fill("x");
    await expectList(page, ["ADA 1 x"]);
    await other.evaluate(() => {
      Object.defineProperty(document, "prerendering", { value: false });
      document.dispatchEvent(new Event("prerenderingchange"));
    });
    await expectList(page, ["ADA 1 x", "BOB 1"]);
  });

  it("counts a page once that shows the list in two components, until the last one is removed", async () => {
    const [ada, bob] = [await browserOf("ada"), await browserOf("bob")];
    const [page, other] = [await ada.open(), await bob.open()];
    await expectList(other, ["ADA 1", "BOB 1"]);
    await page.getByText("Toggle").click();
    await page.locator("ul").waitFor({ state: "detached" });
    await other.locator("input").fill("x");
    await expectList(other, ["ADA 1", "BOB 1 x"]);
    await page.getByText("Toggle").click();
    await expectList(page, ["ADA 1", "BOB 1 x"]);
  });

  it("sends its state at most ten times a second, and the last one always", async () => {
    const ada = await browserOf("ada");
    const page = await ada.open();
    await expectList(page, ["ADA 1"]);
    const sentAtMs: number[] = [];
    page.on("request", (request) => request.url().endsWith("/__web/presence") && sentAtMs.push(performance.now()));
    await page.evaluate(async () => {
      const input = document.querySelector("input");
      for (let at = 0; at <= 200 && input; at++) {
        input.value = String(at);
        input.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
    await expectList(page, ["ADA 1 200"]);
    expect(sentAtMs.length).toBeGreaterThan(1);
    const seconds = ((sentAtMs.at(-1) ?? 0) - (sentAtMs[0] ?? 0)) / 1000;
    expect(sentAtMs.length).toBeLessThanOrEqual(10 * seconds + 2);
  });

  it("keeps its list, stale, while the server does not send it, and requests it with the next connection", async () => {
    const ada = await browserOf("ada");
    const bodies: string[] = [];
    let isAnswered = false;
    await ada.context.route("**/__web/live", async (route) => {
      bodies.push(route.request().postData() ?? "");
      if (isAnswered) return route.continue();
      isAnswered = true;
      const body = 'retry: 100\n\nevent: presence\ndata: room\ndata: {"stale":true}\n\n';
      await route.fulfill({ contentType: "text/event-stream", body });
    });
    const page = await ada.open();
    await expectList(page, ["ADA 1"]);
    expect(bodies.length).toBeGreaterThan(1);
    expect(bodies[0]).toContain("~");
    expect(bodies[1]).not.toContain("~");
    await page.locator("ul.current").waitFor();
  });

  it("leaves when the page is left, and is back, with its state, when it is restored", async () => {
    const fullBrowser = await launch({ fullBrowser: true }); // it keeps pages for Back
    onTestFinished(() => fullBrowser.close());
    const [ada, bob] = [await browserOf("ada", processes[0], fullBrowser), await browserOf("bob")];
    const [page, other] = [await ada.open(), await bob.open()];
    await page.locator("input").fill("here");
    await expectList(other, ["ADA 1 here", "BOB 1"]);
    await page.goto("/elsewhere");
    await expectList(other, ["BOB 1"]);
    await page.evaluate(() => history.back()); // goBack() waits for a load, and a kept page is not loaded
    await expectList(other, ["ADA 1 here", "BOB 1"]);
  });

  it("removes a user who signs out at once, in both processes", async () => {
    const [ada, bob] = [await browserOf("ada"), await browserOf("bob", processes[1])];
    const [page, other] = [await ada.open(), await bob.open()];
    await expectList(other, ["ADA 1", "BOB 1"]);
    await page.getByText("Sign out").click();
    await expectList(other, ["BOB 1"]);
  });
});

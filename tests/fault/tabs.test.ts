/**
 * Eight tabs of a browser share one connection for live updates, while tabs are closed, reloaded, frozen and crash, above all the
 * one that has the connection: each tab receives every message since its page was rendered, once and in order.
 * `npm run torture -- tabs` makes 1,000 hand-overs.
 */
import { setTimeout } from "node:timers/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callFunction } from "#test/call-function";
import { buildLiveApp } from "#test/live-app";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import { SeededRandom } from "#test/seeded-random";
import type { TestProject } from "#test/test-project";
import { launch } from "../browser/chromium.ts";

const { TORTURE_SIZE, TORTURE_RUNS = "1", TORTURE_SEED = "1" } = process.env;
const TABS = 8;
const IS_FULL = TORTURE_SIZE === "full";
/** A multiple of the four kinds. */
const HANDOVERS = IS_FULL ? 1_000 : 8;
const PUBLISH_MS = IS_FULL ? 20 : 60;
const KINDS = ["close", "reload", "freeze", "crash"] as const;
const seeds = Array.from({ length: Number(TORTURE_RUNS) }, (_, n) => Number(TORTURE_SEED) + n);
const ENV = { WEB_ENV: "development", WEB_AUTH_SECRET: "0123456789abcdef".repeat(4) };

let browser: Browser;
let project: TestProject;
let running: RunningServer;

beforeAll(async () => {
  project = await buildLiveApp();
  running = await startBuilt(project.dir, ENV);
  browser = await launch({ processPerPage: true }); // a crash ends one tab
});

afterAll(async () => {
  await browser?.close();
  expect(await running?.stop()).toBe(0);
  project?.remove();
});

/** Publishes the next number. */
let published = 0;
async function publish(): Promise<void> {
  const args = { room: "room", texts: [`n${published + 1}`] };
  expect(await callFunction(running.address, "publish_texts", args)).toEqual([true]);
  published += 1;
}

/** A tab, and the numbers that were published when its page was requested and when it was there. */
interface OpenTab {
  readonly page: Page;
  readonly range: readonly [before: number, after: number];
}

/** The tab that has made the last request for an event stream. */
let leader: Page | undefined;

async function load(page: Page, navigate: () => Promise<unknown>): Promise<OpenTab> {
  const before = published;
  await navigate();
  return { page, range: [before, published] };
}

async function open(context: BrowserContext): Promise<OpenTab> {
  const page = await context.newPage();
  page.on("request", (request) => {
    if (request.url().endsWith("/__web/live")) leader = page;
  });
  return load(page, () => page.goto(running.address));
}

/** Returns the numbers that a tab shows. */
async function numbersOf({ page }: OpenTab): Promise<number[]> {
  const texts = (await page.textContent("output")) || null;
  return texts?.split(",").map((text) => Number(text.slice(1))) ?? [];
}

/** Returns the last number that a tab shows; without one, the last that was published before its page was there. */
const lastOf = async (tab: OpenTab) => (await numbersOf(tab)).at(-1) ?? tab.range[1];

/** Expects that a tab shows all numbers from its first one, which was published while it was loaded, to `last`. */
function checkNumbers(numbers: readonly number[], { range: [before, after] }: OpenTab, last: number): void {
  const first = numbers[0] ?? last + 1;
  expect(first).toBeGreaterThan(before);
  expect(first).toBeLessThanOrEqual(after + 1);
  expect(numbers).toEqual(Array.from({ length: last - first + 1 }, (_, n) => first + n));
}

it.each(seeds)(
  "tabs that share a connection miss, repeat and confuse no message (seed %i)",
  { timeout: TORTURE_SIZE ? 1_200_000 : 120_000 },
  async (seed) => {
    const generator = new SeededRandom(seed);
    const random = () => generator.next();
    const context = await browser.newContext();
    const tabs: OpenTab[] = [];
    for (let n = 0; n < TABS; n++) tabs.push(await open(context));
    const counts = { close: 0, reload: 0, freeze: 0, crash: 0 };
    let isPublishing = true;
    const publishing = (async () => {
      while (isPublishing) {
        await publish();
        await setTimeout(PUBLISH_MS);
      }
    })();
    const delays: number[] = [];
    const kinds = Array.from({ length: HANDOVERS / KINDS.length }, () => generator.sample(KINDS, KINDS.length)).flat();
    for (const kind of kinds) {
      // Mostly the tab with the connection.
      const index = random() < 0.8 ? tabs.findIndex(({ page }) => page === leader) : Math.floor(random() * TABS);
      const tab = tabs[Math.max(0, index)] as OpenTab; // there are as many
      const others = tabs.filter((other) => other !== tab);
      counts[kind] += 1;
      if (kind === "reload") tabs[tabs.indexOf(tab)] = await load(tab.page, () => tab.page.reload());
      else if (kind === "freeze") {
        const session = await context.newCDPSession(tab.page);
        await session.send("Page.setWebLifecycleState", { state: "frozen" });
        await setTimeout(random() * 100);
        await session.send("Page.setWebLifecycleState", { state: "active" });
        await session.detach();
      } else {
        if (kind === "crash") {
          const session = await context.newCDPSession(tab.page);
          const crashed = tab.page.waitForEvent("crash");
          void session.send("Page.crash").catch(() => undefined); // the session ends with the page
          await crashed;
        }
        await tab.page.close();
        tabs[tabs.indexOf(tab)] = await open(context);
      }
      // Every other tab receives what is published now.
      const [target, start] = [published, performance.now()];
      const other = others[Math.floor(random() * others.length)] as OpenTab; // there are seven
      await expect.poll(() => lastOf(other), { interval: 10 }).toBeGreaterThanOrEqual(target);
      delays.push(performance.now() - start);
    }
    isPublishing = false;
    await publishing;
    for (const tab of tabs) {
      await expect.poll(() => lastOf(tab)).toBe(published);
      checkNumbers(await numbersOf(tab), tab, published);
    }
    delays.sort((a, b) => a - b);
    if (TORTURE_SIZE)
      console.log(JSON.stringify({ seed, published, ...counts, p50: delays[delays.length >> 1], max: delays.at(-1) }));
    await context.close();
  },
);

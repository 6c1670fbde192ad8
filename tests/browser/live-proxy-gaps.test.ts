/**
 * Pages in Chromium that have missed something on real servers, behind an nginx: each is reloaded once, and goes
 * on from there.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, type TestContext, test } from "vitest";
import { Nginx } from "#test/nginx";
import { RedisServer } from "#test/redis-server";
import type { Site } from "#test/site";
import { publish } from "#test/torture-publisher";
import { buildTortureSite, movedCalendar, Process, sharedEnvironment } from "#test/torture-site";
import { launch } from "./chromium.ts";

const DAY_MS = 86_400_000;
/** How long a page may take to come back, to be told and to be reloaded. */
const PATIENCE = { timeout: 30_000 };

let site: Site;
let browser: Browser;

beforeAll(async () => {
  [site, browser] = await Promise.all([buildTortureSite(), launch()]);
});

afterAll(async () => {
  await browser?.close();
  site?.remove();
});

/** A page that listens, and what serves it. */
interface Scene {
  readonly server: Process;
  readonly nginx: Nginx;
  readonly redis: RedisServer;
  /** Waits until the page shows a text. */
  shows(text: string): Promise<void>;
}

/** Makes a page miss something. */
type Losing = (scene: Scene) => Promise<void>;

/** Publishes; tries again while the server finds its bus. */
async function say({ address }: Process, ...texts: string[]): Promise<void> {
  while ((await publish(address, "room", texts)).includes(false)) await pause(50);
}

const LOSSES: readonly [name: string, isInMemory: boolean, lose: Losing][] = [
  [
    "more came while the page was cut off than is kept",
    true,
    async ({ server, nginx }) => {
      await nginx.kill();
      // More than the bus keeps, and more than a process has at hand of what it has just seen.
      await say(server, ...Array.from({ length: 1_001 }, (_, n) => `${n} ${"x".repeat(300)}`));
      await nginx.restart();
    },
  ],
  [
    "the server was started anew, and had the messages in memory",
    true,
    async ({ server }) => {
      await server.kill();
      await server.restart();
    },
  ],
  [
    "Redis was emptied under a page that listens",
    false,
    async ({ server, redis }) => {
      await redis.client().flushall();
      await say(server, "the first of another history");
    },
  ],
  [
    "Redis was set back to before the page's position",
    false,
    async ({ server, redis, shows }) => {
      await redis.kill();
      redis.save();
      await redis.restart();
      await say(server, "forgotten");
      await shows("before,forgotten");
      await redis.kill();
      redis.restore();
      await redis.restart();
      await say(server, "in its place");
    },
  ],
  [
    "the page's feed was a day old",
    false,
    async ({ server }) => {
      await server.kill();
      await server.restart(movedCalendar(DAY_MS));
    },
  ],
];

async function setUp(isInMemory: boolean, { onTestFinished }: TestContext): Promise<Omit<Scene, "shows">> {
  const redis = await RedisServer.start({ appendOnly: true });
  onTestFinished(() => redis.stop());
  const server = await Process.start(site.dir, sharedEnvironment(isInMemory ? undefined : redis.url));
  onTestFinished(async () => void (await server.stop()));
  const nginx = await Nginx.start({ ports: [server.port], gzip: true });
  onTestFinished(() => nginx.stop());
  return { redis, server, nginx };
}

describe("a page is reloaded once, and goes on", () => {
  test.concurrent.for(LOSSES)("when %s", async ([, isInMemory, lose], testContext) => {
    const { expect, onTestFinished } = testContext;
    const scene = await setUp(isInMemory, testContext);
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    let loads = 0;
    const complaints: string[] = [];
    page.on("load", () => {
      loads += 1;
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().startsWith("Failed to load")) complaints.push(message.text());
    });
    const shows = (text: string) => expect.poll(() => page.locator("output").textContent(), PATIENCE).toBe(text);

    await say(scene.server, "earlier"); // else, with five scenes at once, the bus may keep the page waiting for too long
    await page.goto(scene.nginx.address);
    await say(scene.server, "before");
    await shows("before");
    await lose({ ...scene, shows });
    await expect.poll(() => loads, PATIENCE).toBe(2);
    await say(scene.server, "after");
    await shows("after");
    await say(scene.server, "and on");
    await shows("after,and on");
    // A second reload would be refused, and said so.
    expect([loads, complaints]).toEqual([2, []]);
  });
});

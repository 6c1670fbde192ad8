/**
 * Pages in Chromium that have missed something on real servers, behind an nginx: each is reloaded once, and goes
 * on from there.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, type TestContext, test } from "vitest";
import { Nginx } from "#test/nginx";
import { RedisServer } from "#test/redis-server";
import type { TestProject } from "#test/test-project";
import { publishTexts } from "#test/torture-publisher";
import { buildLiveApp, shiftedDateArgs, ServerProcess, sharedEnv } from "#test/torture-site";
import { launch } from "./chromium.ts";

const DAY_MS = 86_400_000;
/** How long a page may take to come back, to be told and to be reloaded. */
const POLL_OPTIONS = { timeout: 30_000 };

let project: TestProject;
let browser: Browser;

beforeAll(async () => {
  [project, browser] = await Promise.all([buildLiveApp(), launch()]);
});

afterAll(async () => {
  await browser?.close();
  project?.remove();
});

/** A page that listens, and what serves it. */
interface Deployment {
  readonly server: ServerProcess;
  readonly nginx: Nginx;
  readonly redis: RedisServer;
  /** Waits until the page shows a text. */
  shows(text: string): Promise<void>;
}

/** Makes a page miss something. */
type LoseMessages = (scene: Deployment) => Promise<void>;

/** Publishes; tries again while the server finds its bus. */
async function publishTexts({ address }: ServerProcess, ...texts: string[]): Promise<void> {
  while ((await publishTexts(address, "room", texts)).includes(false)) await pause(50);
}

const LOSSES: readonly [name: string, isInMemory: boolean, lose: LoseMessages][] = [
  [
    "more came while the page was cut off than is kept",
    true,
    async ({ server, nginx }) => {
      await nginx.kill();
      // More than the bus keeps, and more than a process has at hand of what it has just seen.
      await publishTexts(server, ...Array.from({ length: 1_001 }, (_, n) => `${n} ${"x".repeat(300)}`));
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
      await publishTexts(server, "the first of another history");
    },
  ],
  [
    "Redis was set back to before the page's position",
    false,
    async ({ server, redis, shows }) => {
      await redis.kill();
      redis.save();
      await redis.restart();
      await publishTexts(server, "forgotten");
      await shows("before,forgotten");
      await redis.kill();
      redis.restore();
      await redis.restart();
      await publishTexts(server, "in its place");
    },
  ],
  [
    "the page's feed was a day old",
    false,
    async ({ server }) => {
      await server.kill();
      await server.restart(shiftedDateArgs(DAY_MS));
    },
  ],
];

async function deploy(isInMemory: boolean, { onTestFinished }: TestContext): Promise<Omit<Deployment, "shows">> {
  const redis = await RedisServer.start({ appendOnly: true });
  onTestFinished(() => redis.stop());
  const server = await ServerProcess.start(project.dir, sharedEnv(isInMemory ? undefined : redis.url));
  onTestFinished(async () => void (await server.stop()));
  const nginx = await Nginx.start({ ports: [server.port], gzip: true });
  onTestFinished(() => nginx.stop());
  return { redis, server, nginx };
}

describe("a page is reloaded once, and goes on", () => {
  test.concurrent.for(LOSSES)("when %s", async ([, isInMemory, lose], testContext) => {
    const { expect, onTestFinished } = testContext;
    const scene = await deploy(isInMemory, testContext);
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
    const shows = (text: string) => expect.poll(() => page.locator("output").textContent(), POLL_OPTIONS).toBe(text);

    await publishTexts(scene.server, "earlier"); // else, with five scenes at once, the bus may keep the page waiting for too long
    await page.goto(scene.nginx.address);
    await publishTexts(scene.server, "before");
    await shows("before");
    await lose({ ...scene, shows });
    await expect.poll(() => loads, POLL_OPTIONS).toBe(2);
    await publishTexts(scene.server, "after");
    await shows("after");
    await publishTexts(scene.server, "and on");
    await shows("after,and on");
    // A second reload would be refused, and said so.
    expect([loads, complaints]).toEqual([2, []]);
  });
});

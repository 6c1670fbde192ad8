/**
 * Gaps in Chromium, on real servers behind an nginx: the page is reloaded once, and receives new messages.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, type TestContext, test } from "vitest";
import { AppProcess, sharedEnv, shiftedDateArgs } from "#test/app-process";
import { buildLiveApp } from "#test/live-app";
import { Nginx } from "#test/nginx";
import { RedisServer } from "#test/redis-server";
import type { TestProject } from "#test/test-project";
import { publishTexts } from "#test/torture-publisher";
import { launch } from "./chromium.ts";

const DAY_MS = 86_400_000;
/** The time limit for a page to reconnect, to receive the gap and to be reloaded. */
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

/** A page that subscribes, and its servers. */
interface Deployment {
  readonly server: AppProcess;
  readonly nginx: Nginx;
  readonly redis: RedisServer;
  /** Waits until the page shows a text. */
  expectText(text: string): Promise<void>;
}

/** Causes a gap. */
type LoseMessages = (deployment: Deployment) => Promise<void>;

/** Publishes texts. Tries again while the server cannot reach the bus. */
async function publishWithRetry({ address }: AppProcess, ...texts: string[]): Promise<void> {
  while ((await publishTexts(address, "room", texts)).includes(false)) await pause(50);
}

const LOSSES: readonly [name: string, isInMemory: boolean, lose: LoseMessages][] = [
  [
    "more messages than the bus stores were published while the page was disconnected",
    true,
    async ({ server, nginx }) => {
      await nginx.kill();
      // More than the bus stores, and more than the process has in its cache.
      await publishWithRetry(server, ...Array.from({ length: 1_001 }, (_, n) => `${n} ${"x".repeat(300)}`));
      await nginx.restart();
    },
  ],
  [
    "the server was restarted with the memory bus",
    true,
    async ({ server }) => {
      await server.kill();
      await server.restart();
    },
  ],
  [
    "Redis was emptied while the page was subscribed",
    false,
    async ({ server, redis }) => {
      await redis.client().flushall();
      await publishWithRetry(server, "the first of another history");
    },
  ],
  [
    "Redis was restored to a state before the page's position",
    false,
    async ({ server, redis, expectText }) => {
      await redis.kill();
      redis.save();
      await redis.restart();
      await publishWithRetry(server, "forgotten");
      await expectText("before,forgotten");
      await redis.kill();
      redis.restore();
      await redis.restart();
      await publishWithRetry(server, "replacement");
    },
  ],
  [
    "the page's feed has expired after a day",
    false,
    async ({ server }) => {
      await server.kill();
      await server.restart(shiftedDateArgs(DAY_MS));
    },
  ],
];

async function deploy(isInMemory: boolean, { onTestFinished }: TestContext): Promise<Omit<Deployment, "expectText">> {
  const redis = await RedisServer.start({ appendOnly: true });
  onTestFinished(() => redis.stop());
  const server = await AppProcess.start(project.dir, sharedEnv(isInMemory ? undefined : redis.url));
  onTestFinished(async () => void (await server.stop()));
  const nginx = await Nginx.start({ ports: [server.port], gzip: true });
  onTestFinished(() => nginx.stop());
  return { redis, server, nginx };
}

describe("a page is reloaded once, and receives new messages", () => {
  test.concurrent.for(LOSSES)("when %s", async ([, isInMemory, lose], testContext) => {
    const { expect, onTestFinished } = testContext;
    const deployment = await deploy(isInMemory, testContext);
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    let loads = 0;
    const errors: string[] = [];
    page.on("load", () => {
      loads += 1;
    });
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().startsWith("Failed to load")) errors.push(message.text());
    });
    const expectText = (text: string) =>
      expect.poll(() => page.locator("output").textContent(), POLL_OPTIONS).toBe(text);

    await publishWithRetry(deployment.server, "earlier"); // connects the bus first: five tests at once may delay the connection for long
    await page.goto(deployment.nginx.address);
    await publishWithRetry(deployment.server, "before");
    await expectText("before");
    await lose({ ...deployment, expectText });
    await expect.poll(() => loads, POLL_OPTIONS).toBe(2);
    await publishWithRetry(deployment.server, "after");
    await expectText("after");
    await publishWithRetry(deployment.server, "and on");
    await expectText("after,and on");
    // A second reload would log an error.
    expect([loads, errors]).toEqual([2, []]);
  });
});

/**
 * Live updates in Chromium through an nginx that buffers and compresses, and through what happens to it and to
 * the servers behind it.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Nginx, type NginxOptions } from "#test/nginx";
import { RedisServer } from "#test/redis-server";
import type { TestProject } from "#test/test-project";
import { publishTexts } from "#test/torture-publisher";
import { buildLiveApp, acceleratedClockArgs, ServerProcess, sharedEnv } from "#test/torture-site";
import { launch } from "./chromium.ts";

let project: TestProject;
let browser: Browser;
/** What pages threw. */
const pageErrors: string[] = [];
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  [project, browser] = await Promise.all([buildLiveApp(), launch()]);
});

afterEach(async () => {
  for (const end of cleanups.splice(0).reverse()) await end();
  expect(pageErrors).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  project?.remove();
});

/** What one test has: servers and the nginx before them. */
interface Deployment {
  readonly processes: readonly ServerProcess[];
  readonly nginx: Nginx;
}

interface DeploymentOptions {
  readonly busUrl?: string;
  readonly count?: number;
  /** Arguments for Node. */
  readonly args?: readonly string[];
  readonly setup?: Partial<NginxOptions>;
}

async function deploy({ busUrl, count = 1, args = [], setup = {} }: DeploymentOptions = {}): Promise<Deployment> {
  const env = sharedEnv(busUrl);
  const processes = await Promise.all(Array.from({ length: count }, () => ServerProcess.start(project.dir, env, args)));
  cleanups.push(...processes.map((each) => () => each.stop()));
  const nginx = await Nginx.start({ ports: processes.map(({ port }) => port), gzip: true, ...setup });
  cleanups.push(() => nginx.stop());
  return { processes, nginx };
}

/** What became of a page's streams and polls. */
interface Requests {
  /** How many were answered by a stream. */
  streams: number;
  polls: number;
  /** How the last stream was encoded. */
  encoding: string | undefined;
  loads: number;
}

async function openPage(nginx: Nginx): Promise<{ page: Page; requests: Requests }> {
  const context = await browser.newContext();
  cleanups.push(() => context.close());
  const page = await context.newPage();
  const requests: Requests = { streams: 0, polls: 0, encoding: undefined, loads: 0 };
  page.on("pageerror", (error) => pageErrors.push(error.message));
  page.on("load", () => {
    requests.loads += 1;
  });
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (response.status() !== 200) return;
    if (pathname === "/__web/poll") requests.polls += 1;
    if (pathname !== "/__web/live") return;
    requests.streams += 1;
    requests.encoding = response.headers()["content-encoding"];
  });
  await page.goto(nginx.address);
  return { page, requests };
}

async function publishTexts({ address }: ServerProcess, ...texts: string[]): Promise<void> {
  expect(await publishTexts(address, "room", texts)).toEqual(texts.map(() => true));
}

/** Waits until a page shows these texts, and nothing else. */
async function expectTexts(page: Page, texts: readonly string[], timeout = 20_000): Promise<void> {
  await expect.poll(() => page.locator("output").textContent(), { timeout }).toBe(texts.join());
}

const first = ({ processes: [process] }: Deployment): ServerProcess => {
  if (!process) throw new Error("There is no process.");
  return process;
};

describe("through an nginx that buffers and compresses", () => {
  test("messages come at once, one by one, in a stream that stays open and is compressed", async () => {
    const world = await deploy();
    const { page, requests } = await openPage(world.nginx);
    await expect.poll(() => requests.streams).toBe(1);
    const shown: string[] = [];
    for (const text of ["one", "two", "three", "x".repeat(40_000), "four"]) {
      await publishTexts(first(world), text);
      shown.push(text);
      await expectTexts(page, shown, 5_000); // well before the next sign of life would push it out
    }
    expect(requests).toEqual({ streams: 1, polls: 0, encoding: "gzip", loads: 1 });
  });

  test("a page that is left open goes on when the server ends its stream after five minutes", async () => {
    // Five minutes pass in three seconds there.
    const world = await deploy({ args: acceleratedClockArgs(100) });
    const { page, requests } = await openPage(world.nginx);
    const shown: string[] = [];
    for (let n = 0; requests.streams < 3; n++) {
      await publishTexts(first(world), `${n}`);
      shown.push(`${n}`);
      await expectTexts(page, shown);
      await page.waitForTimeout(50); // so that they are not thousands
    }
    await publishTexts(first(world), "last");
    await expectTexts(page, [...shown, "last"]);
    expect(requests.loads).toBe(1);
  });

  test("a page goes on when the server is killed that has its stream, and at another", async () => {
    const redis = await RedisServer.start({ appendOnly: true });
    cleanups.push(() => redis.stop());
    const world = await deploy({ busUrl: redis.url, count: 2 });
    const { page, requests } = await openPage(world.nginx);
    const [one, other] = world.processes as [ServerProcess, ServerProcess]; // there are two
    await publishTexts(one, "1");
    await expectTexts(page, ["1"]);
    await one.kill();
    await publishTexts(other, "2");
    await expectTexts(page, ["1", "2"]);
    await one.restart();
    await other.kill();
    await publishTexts(one, "3");
    await expectTexts(page, ["1", "2", "3"]);
    expect(requests.loads).toBe(1);
    await other.restart();
  });

  test("a page goes on when nginx is killed, and when it begins anew and closes what is open", async () => {
    const world = await deploy();
    const { page, requests } = await openPage(world.nginx);
    await publishTexts(first(world), "1");
    await expectTexts(page, ["1"]);
    await world.nginx.kill();
    await publishTexts(first(world), "2");
    await world.nginx.restart();
    await expectTexts(page, ["1", "2"]);
    const { streams } = requests;
    world.nginx.reload();
    await publishTexts(first(world), "3");
    await expect.poll(() => requests.streams + requests.polls, { timeout: 20_000 }).toBeGreaterThan(streams);
    await publishTexts(first(world), "4");
    await expectTexts(page, ["1", "2", "3", "4"]);
    expect(requests.loads).toBe(1);
  });

  test("polls take over where nginx refuses streams", async () => {
    const world = await deploy({ setup: { rejectsStreams: true } });
    const { page, requests } = await openPage(world.nginx);
    const shown: string[] = [];
    for (const text of ["one", "two", "three"]) {
      await publishTexts(first(world), text);
      shown.push(text);
      await expectTexts(page, shown);
    }
    expect(requests.polls).toBeGreaterThan(0);
    expect(requests.streams).toBe(0);
  });
});

describe("ten tabs of one site, over HTTP/1.1", () => {
  /** Brings a tab to the front, or puts it behind: without a screen, the browser counts all as looked at. */
  async function look(page: Page, isLookedAt: boolean): Promise<void> {
    if (isLookedAt) await page.bringToFront();
    await page.evaluate((isHidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, !isLookedAt);
  }

  test("each shows every message once it is looked at, and every call is answered", async () => {
    const world = await deploy();
    const context = await browser.newContext();
    cleanups.push(() => context.close());
    const tabs: Page[] = [];
    for (let n = 0; n < 10; n++) {
      const tab = await context.newPage();
      await tab.goto(world.nginx.address);
      tabs.push(tab);
      await publishTexts(first(world), `${n}`);
      await expectTexts(tab, [`${n}`]);
      // The next one is opened: this one is looked at no more, and gives its stream back.
      await look(tab, false);
    }
    const protocol = "performance.getEntriesByType('navigation')[0]?.nextHopProtocol";
    expect(await tabs[0]?.evaluate(protocol)).toBe("http/1.1");
    for (const [n, tab] of tabs.entries()) {
      await publishTexts(first(world), `again ${n}`);
      await look(tab, true);
      const since = Array.from({ length: 10 - n }, (_, at) => `${n + at}`);
      await expectTexts(tab, [...since, ...Array.from({ length: n + 1 }, (_, at) => `again ${at}`)]);
      await tab.getByRole("button").click();
      await expect.poll(() => tab.getByRole("button").textContent()).toBe("1");
      await look(tab, false);
    }
  });
});

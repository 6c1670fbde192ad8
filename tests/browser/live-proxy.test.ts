/**
 * Live updates in Chromium behind an nginx that buffers and compresses, during failures of the nginx and of the servers.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { AppProcess, acceleratedClockArgs, sharedEnv } from "#test/app-process";
import { buildLiveApp } from "#test/live-app";
import { Nginx, type NginxOptions } from "#test/nginx";
import { RedisServer } from "#test/redis-server";
import type { TestProject } from "#test/test-project";
import { publishTexts } from "#test/torture-publisher";
import { launch } from "./chromium.ts";

let project: TestProject;
let browser: Browser;
/** The server of the tests that stop no server. */
let server: AppProcess;
/** Uncaught errors of pages. */
const pageErrors: string[] = [];
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  [project, browser] = await Promise.all([buildLiveApp(), launch()]);
  server = await AppProcess.start(project.dir, sharedEnv());
});

afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
  expect(pageErrors).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  project?.remove();
});

/** Servers behind an nginx. */
interface Deployment {
  readonly processes: readonly AppProcess[];
  readonly nginx: Nginx;
}

interface DeploymentOptions {
  /** Default: that of all tests. */
  readonly processes?: readonly AppProcess[];
  readonly nginxOptions?: Partial<NginxOptions>;
}

/** Starts servers that the test alone uses. @param args arguments for Node */
async function startServers(count: number, busUrl?: string, args: readonly string[] = []): Promise<AppProcess[]> {
  const env = sharedEnv(busUrl);
  const processes = await Promise.all(Array.from({ length: count }, () => AppProcess.start(project.dir, env, args)));
  cleanups.push(...processes.map((each) => () => each.stop()));
  return processes;
}

async function deploy({ processes = [server], nginxOptions }: DeploymentOptions = {}): Promise<Deployment> {
  const nginx = await Nginx.start({ ports: processes.map(({ port }) => port), gzip: true, ...nginxOptions });
  cleanups.push(() => nginx.stop());
  return { processes, nginx };
}

/** The live requests of a page. */
interface Requests {
  /** The number of event streams. */
  streams: number;
  polls: number;
  /** The content encoding of the last event stream. */
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

async function publishToRoom({ address }: AppProcess, ...texts: string[]): Promise<void> {
  expect(await publishTexts(address, "room", texts)).toEqual(texts.map(() => true));
}

/** Waits until a page shows exactly these texts. */
async function expectTexts(page: Page, texts: readonly string[], timeout = 20_000): Promise<void> {
  await expect.poll(() => page.locator("output").textContent(), { timeout }).toBe(texts.join());
}

const firstServer = ({ processes: [process] }: Deployment): AppProcess => {
  if (!process) throw new Error("The deployment has no server process.");
  return process;
};

describe("behind an nginx that buffers and compresses", () => {
  test("messages arrive at once, in one compressed event stream", async () => {
    const deployment = await deploy();
    const { page, requests } = await openPage(deployment.nginx);
    await expect.poll(() => requests.streams).toBe(1);
    const shown: string[] = [];
    for (const text of ["one", "two", "three", "x".repeat(40_000), "four"]) {
      await publishToRoom(firstServer(deployment), text);
      shown.push(text);
      await expectTexts(page, shown, 5_000); // before the next ping could flush it
    }
    expect(requests).toEqual({ streams: 1, polls: 0, encoding: "gzip", loads: 1 });
  });

  test("an open page continues after the server ends its event stream after five minutes", async () => {
    // The clock of the server runs 100 times faster: five minutes take three seconds.
    const deployment = await deploy({ processes: await startServers(1, undefined, acceleratedClockArgs(100)) });
    const { page, requests } = await openPage(deployment.nginx);
    const shown: string[] = [];
    for (let n = 0; requests.streams < 2; n++) {
      await publishToRoom(firstServer(deployment), `${n}`);
      shown.push(`${n}`);
      await expectTexts(page, shown);
      await page.waitForTimeout(50); // limits the number of messages
    }
    await publishToRoom(firstServer(deployment), "last");
    await expectTexts(page, [...shown, "last"]);
    expect(requests.loads).toBe(1);
  });

  test("a page continues at another server when its server is killed", async () => {
    const redis = await RedisServer.start({ appendOnly: true });
    cleanups.push(() => redis.stop());
    const deployment = await deploy({ processes: await startServers(2, redis.url) });
    const { page, requests } = await openPage(deployment.nginx);
    const [one, other] = deployment.processes as [AppProcess, AppProcess]; // there are two
    await publishToRoom(one, "1");
    await expectTexts(page, ["1"]);
    await one.kill();
    await publishToRoom(other, "2");
    await expectTexts(page, ["1", "2"]);
    await one.restart();
    await other.kill();
    await publishToRoom(one, "3");
    await expectTexts(page, ["1", "2", "3"]);
    expect(requests.loads).toBe(1);
    await other.restart();
  });

  test("a page continues when nginx is killed and restarted, and when nginx is reloaded", async () => {
    const deployment = await deploy();
    const { page, requests } = await openPage(deployment.nginx);
    await publishToRoom(firstServer(deployment), "1");
    await expectTexts(page, ["1"]);
    await deployment.nginx.kill();
    await publishToRoom(firstServer(deployment), "2");
    await deployment.nginx.restart();
    await expectTexts(page, ["1", "2"]);
    const { streams } = requests;
    deployment.nginx.reload();
    await publishToRoom(firstServer(deployment), "3");
    await expect.poll(() => requests.streams + requests.polls).toBeGreaterThan(streams);
    await publishToRoom(firstServer(deployment), "4");
    await expectTexts(page, ["1", "2", "3", "4"]);
    expect(requests.loads).toBe(1);
  });

  test("a page polls if nginx rejects event streams", async () => {
    const deployment = await deploy({ nginxOptions: { rejectsStreams: true } });
    const { page, requests } = await openPage(deployment.nginx);
    const shown: string[] = [];
    for (const text of ["one", "two", "three"]) {
      await publishToRoom(firstServer(deployment), text);
      shown.push(text);
      await expectTexts(page, shown);
    }
    expect(requests.polls).toBeGreaterThan(0);
    expect(requests.streams).toBe(0);
  });
});

describe("seven tabs of one site, over HTTP/1.1, which opens six connections", () => {
  const COUNT = 7;

  /** Shows or hides a tab. A headless browser reports all tabs as visible. */
  async function setVisible(page: Page, isVisible: boolean): Promise<void> {
    if (isVisible) await page.bringToFront();
    await page.evaluate((isHidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, !isVisible);
  }

  test("show every message when they become visible, and can always send calls", async () => {
    const deployment = await deploy();
    const context = await browser.newContext();
    cleanups.push(() => context.close());
    const tabs: Page[] = [];
    for (let n = 0; n < COUNT; n++) {
      const tab = await context.newPage();
      await tab.goto(deployment.nginx.address);
      tabs.push(tab);
      await publishToRoom(firstServer(deployment), `${n}`);
      await expectTexts(tab, [`${n}`]);
      // The next tab hides this one, which then ends its event stream.
      await setVisible(tab, false);
    }
    const protocol = "performance.getEntriesByType('navigation')[0]?.nextHopProtocol";
    expect(await tabs[0]?.evaluate(protocol)).toBe("http/1.1");
    for (const [n, tab] of tabs.entries()) {
      await publishToRoom(firstServer(deployment), `again ${n}`);
      await setVisible(tab, true);
      const since = Array.from({ length: COUNT - n }, (_, at) => `${n + at}`);
      await expectTexts(tab, [...since, ...Array.from({ length: n + 1 }, (_, at) => `again ${at}`)]);
      await tab.getByRole("button").click();
      await expect.poll(() => tab.getByRole("button").textContent()).toBe("1");
      await setVisible(tab, false);
    }
  });
});

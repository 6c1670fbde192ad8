/**
 * Pages with the option `cache` in several processes: what one revalidates, all render again.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { buildProcesses } from "#test/built-processes";
import { ProcessPair, SHARED_BUSES } from "#test/process-pair";
import { startDev } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";

let project: TestProject;
beforeAll(async () => {
  project = await buildProcesses();
});
afterAll(() => project?.remove());

const get = async ({ address }: AppProcess, path = "/news/1") => (await fetch(address + path)).text();
const touch = ({ address }: AppProcess, id = "1") => fetch(`${address}/touch/${id}`, { method: "POST" });

/** Waits until a process keeps pages: until it receives revalidations. */
async function expectKept(app: AppProcess): Promise<void> {
  await expect
    .poll(async () => {
      const earlier = await get(app);
      return (await get(app)) === earlier;
    })
    .toBe(true);
}

describe.each(SHARED_BUSES)("cached pages of two processes on %s", (_, startBus) => {
  let pair: ProcessPair;
  let apps: ProcessPair["apps"];
  beforeAll(async () => {
    pair = await ProcessPair.start(project.dir, startBus);
    apps = pair.apps;
  });
  afterAll(() => pair?.stop());

  it("are kept in each, and rendered again in both after one has revalidated them, with all variants [CACHE-7]", async () => {
    await Promise.all(apps.map(expectKept));
    const paths = ["/news/1", "/news/1?sort=a", "/news/2"];
    const shown = () => Promise.all(apps.flatMap((app) => paths.map((path) => get(app, path))));
    const before = await shown();
    expect(await shown()).toEqual(before);
    expect(await (await touch(apps[0])).text()).toBe("done");
    expect(await get(apps[0])).not.toBe(before[0]); // at once in the process that has revalidated it
    await expect.poll(async () => (await get(apps[1])) !== before[3]).toBe(true);
    const after = await shown();
    expect(after.map((text, i) => text === before[i])).toEqual([false, false, true, false, false, true]);
  });

  it("are rendered again in both after a revalidation that follows a restart of the bus [CACHE-8]", async () => {
    await Promise.all(apps.map(expectKept));
    const before = await Promise.all(apps.map((app) => get(app)));
    await pair.bus.kill();
    await pair.bus.restart();
    await expect.poll(async () => (await touch(apps[0])).status, { timeout: 20_000 }).toBe(200);
    for (const [i, app] of apps.entries()) {
      await expect.poll(async () => (await get(app)) !== before[i], { timeout: 20_000 }).toBe(true);
    }
  }, 60_000);
});

/** The pages that use something of one request, what they use, and its line in the file. */
const PERSONAL = [
  ["/personal", "session.user()", 8],
  ["/feed", "channel()", 9],
  ["/live", "list.live()", 11],
  ["/form", "a form with a CSRF token", 13],
] as const;

const withTokens = { ...sharedEnv(), WEB_CSRF_SECRET: randomBytes(32).toString("hex") };

it("cached pages are never cached if they use something of one request, with a warning that has the line", async () => {
  const app = await AppProcess.start(project.dir, { ...withTokens, NODE_OPTIONS: "--enable-source-maps" });
  try {
    for (const [path, use, line] of PERSONAL) {
      for (let i = 0; i < 2; i++) {
        const response = await fetch(app.address + path);
        expect([path, response.status, response.headers.get("cache-control")]).toEqual([
          path,
          200,
          "private, no-store",
        ]);
        expect(await response.text()).toContain("<main>");
      }
      const warning = () =>
        app
          .output()
          .split("\n")
          .filter((text) => text.includes(`The page ${path} is not cached`));
      await expect.poll(warning).toHaveLength(1);
      expect(warning()[0]).toContain(`uses ${use}, which belongs to one request.`);
      // The renderer writes a form, so that no line of the application is in the stack: the page is named.
      expect(warning()[0]).toMatch(new RegExp(`news\\.server\\.tsx:${line}`));
    }
  } finally {
    await app.stop();
  }
});

it("cached pages that use something of one request are an error in development, which names the line", async () => {
  const dev = await startDev(project.dir, { WEB_CSRF_SECRET: withTokens.WEB_CSRF_SECRET });
  try {
    for (const [path, use, line] of PERSONAL) {
      const response = await fetch(dev.address + path);
      const text = (await response.text()).replaceAll("&quot;", '"');
      expect([path, response.status]).toEqual([path, 500]);
      expect(text).toContain(`is cached for all clients, and it uses ${use}`);
      expect(text).toMatch(new RegExp(`news\\.server\\.tsx:${line}`));
    }
    const page = await fetch(`${dev.address}/news/1`);
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "private, no-store"]);
    expect(await (await fetch(`${dev.address}/news/1`)).text()).toContain(": 2"); // rendered each time
  } finally {
    await dev.stop();
  }
});

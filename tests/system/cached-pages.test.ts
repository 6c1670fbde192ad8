/**
 * Pages with the option `cache` in several processes: what one revalidates, all render again.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { NatsServer } from "#test/nats-server";
import { RedisServer } from "#test/redis-server";
import { build, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as news from "./news.server.tsx";
    export default new App({ modules: [news] });`,
  "src/news.server.tsx": `
    import { page, revalidate, route, session } from "tsweb";
    let renderings = 0;
    export const news = page("/news/:id", { cache: { seconds: 600, query: ["sort"] } }, ({ id }) => {
      renderings++;
      return <main>news {id} of {process.pid}: {renderings}</main>;
    });
    export const personal = page("/personal", { cache: { seconds: 600 } }, () => <main>{session.user()?.sub ?? "nobody"}</main>);
    export const touch = route("POST /touch/:id", async (_request, { id }) => {
      await revalidate("/news/" + id);
      return new Response("done");
    });
    export const count = route("GET /count", () => new Response(String(renderings)));`,
};

let project: TestProject;
beforeAll(async () => {
  project = TestProject.fromFiles(FILES);
  await build(project.dir);
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

describe.each([
  ["Redis", () => RedisServer.start()],
  ["NATS", () => NatsServer.start()],
])("cached pages of two processes on %s", (_, start) => {
  let bus: RedisServer | NatsServer;
  let apps: [AppProcess, AppProcess];
  beforeAll(async () => {
    bus = await start();
    const env = sharedEnv(bus.url);
    apps = await Promise.all([AppProcess.start(project.dir, env), AppProcess.start(project.dir, env)]);
  });
  afterAll(async () => {
    await Promise.all((apps ?? []).map((app) => app.stop()));
    await bus?.stop();
  });

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
    await bus.kill();
    await bus.restart();
    await expect.poll(async () => (await touch(apps[0])).status, { timeout: 20_000 }).toBe(200);
    for (const [i, app] of apps.entries()) {
      await expect.poll(async () => (await get(app)) !== before[i], { timeout: 20_000 }).toBe(true);
    }
  }, 60_000);
});

it("cached pages stay what they were for all other clients if one uses the session, with a warning that has the line", async () => {
  const app = await AppProcess.start(project.dir, { ...sharedEnv(), NODE_OPTIONS: "--enable-source-maps" });
  try {
    for (let i = 0; i < 2; i++) {
      const response = await fetch(`${app.address}/personal`);
      expect(response.headers.get("cache-control")).toBe("private, no-store");
      expect(await response.text()).toContain("nobody");
    }
    await expect.poll(() => app.output()).toContain("The page /personal is not cached");
    expect(app.output().split("is not cached")).toHaveLength(2);
    expect(app.output()).toMatch(/session\.user\(\).*news\.server\.tsx:8/s);
  } finally {
    await app.stop();
  }
});

it("cached pages that use the session are an error in development, which names the line", async () => {
  const dev = await startDev(project.dir);
  try {
    const response = await fetch(`${dev.address}/personal`);
    expect(response.status).toBe(500);
    expect(await response.text()).toMatch(
      /is cached for all clients, and it uses session\.user\(\).*news\.server\.tsx:8/s,
    );
    const page = await fetch(`${dev.address}/news/1`);
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "private, no-store"]);
    expect(await (await fetch(`${dev.address}/news/1`)).text()).toContain(": 2"); // rendered each time
  } finally {
    await dev.stop();
  }
});

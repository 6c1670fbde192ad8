/** Views below the fold, which are hydrated when they come near the screen, or when the browser is idle. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { build, type RunningServer, startBuilt, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";

const viewModule = (name: string, options: string) => `
  import { on_mount, state, view } from "tsweb/browser";
  export const ${name} = view(${options}({ start }: { start: number }) => {
    const shown = state({ count: start });
    on_mount(() => { document.documentElement.dataset.${name.toLowerCase()} = "yes"; });
    return <button id="${name.toLowerCase()}" type="button" onClick={() => shown.count++}>{shown.count}</button>;
  });`;

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as pages from "./pages.server.tsx";
    export default new App({ base: "/shop", modules: [pages] });`,
  "src/pages.server.tsx": `
    import { Head, page } from "tsweb";
    import { Low } from "./low.tsx";
    import { Later } from "./later.tsx";
    import { Now } from "./now.tsx";
    export const home = page("/", () => (
      <main>
        <Head><link rel="icon" href="data:," /></Head>
        <Now start={1} /><Later start={2} />
        <div style="height:5000px" />
        <Low start={3} /><Low start={4} />
      </main>
    ));
    export const plain = page("/plain", () => <main><Head><link rel="icon" href="data:," /></Head><Now start={1} /></main>);`,
  "src/now.tsx": viewModule("Now", ""),
  "src/later.tsx": viewModule("Later", '{ hydrate: "idle" }, '),
  "src/low.tsx": viewModule("Low", '{ hydrate: "visible" }, '),
};

let project: TestProject;
let servers: Record<string, RunningServer>;
let browser: Browser;
let users: BrowserUsers;
let page: Page;
let requests: string[];

beforeAll(async () => {
  project = TestProject.fromFiles(FILES);
  [browser] = await Promise.all([launch(), build(project.dir)]);
  servers = { built: await startBuilt(project.dir, { WEB_ENV: "development" }), dev: await startDev(project.dir) };
});

afterAll(async () => {
  await browser?.close();
  await Promise.all(Object.values(servers ?? {}).map((server) => server.stop()));
  project?.remove();
});

beforeEach(async () => {
  users = new BrowserUsers(browser, {});
  page = await users.newPage();
  requests = [];
  page.on("request", (request) => requests.push(request.url()));
});

afterEach(async () => {
  await users.closeAll();
  expect(users.problems).toEqual([]);
});

const isHydrated = (name: string) =>
  page.waitForFunction((key) => document.documentElement.dataset[key] === "yes", name);
const loaded = (file: string) =>
  requests.filter((url) => new RegExp(`/${file}(-[\\w-]+)?\\.(js|tsx)(\\?|$)`).test(url)).length;

it.each(["built", "dev"])(
  "loads the script of a view when it comes near the screen, and keeps its props (%s)",
  async (kind) => {
    await page.goto(`${servers[kind]?.address}/shop/`);
    await isHydrated("now");
    await isHydrated("later");
    await page.click("#later");
    expect(await page.textContent("#later")).toBe("3");
    expect(loaded("low")).toBe(0);
    expect(await page.locator("#low").allTextContents()).toEqual(["3", "4"]);
    await page.locator("#low").nth(1).scrollIntoViewIfNeeded();
    await isHydrated("low");
    await page.locator("#low").nth(1).click();
    await expect.poll(() => page.locator("#low").allTextContents()).toEqual(["3", "5"]);
    expect(loaded("low")).toBe(1);
  },
);

it("loads nothing of that on a page whose views are hydrated at once", async () => {
  await page.goto(`${servers.built?.address}/shop/plain`);
  await isHydrated("now");
  expect(loaded("deferred")).toBe(0);
  expect(await page.content()).not.toContain("deferred");
});

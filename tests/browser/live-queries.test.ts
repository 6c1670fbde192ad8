/**
 * Live queries in Chromium: two browsers, served by three processes on Redis, and by two on NATS.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { buildBoardApp } from "#test/board-app";
import { NatsServer } from "#test/nats-server";
import { RedisServer } from "#test/redis-server";
import type { TestProject } from "#test/test-project";
import { goBack, launch } from "./chromium.ts";

let browser: Browser;
let project: TestProject;
let redis: RedisServer;
let env: Record<string, string>;
let processes: AppProcess[] = [];
let contexts: BrowserContext[] = [];
/** The board of a test. All tests have the same processes. */
let board = "";
let boards = 0;
const problems: string[] = [];

beforeAll(async () => {
  [browser, project, redis] = await Promise.all([launch(), buildBoardApp(), RedisServer.start({ appendOnly: true })]);
  env = { ...sharedEnv(redis.url), CARDS_FILE: join(project.dir, "cards.txt") };
  processes = await Promise.all([1, 2, 3].map(() => AppProcess.start(project.dir, env)));
});

beforeEach(() => {
  rmSync(env.CARDS_FILE as string, { force: true });
  board = `board${++boards}`;
});

afterEach(async () => {
  for (const context of contexts) await context.close();
  contexts = [];
  expect(problems.splice(0)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  for (const process of processes) await process.stop();
  await redis?.stop();
  project?.remove();
});

/** Opens the board in a browser of its own, at a process. */
async function open(number = 0, path = `/${board}`, from = browser): Promise<Page> {
  const context = await from.newContext({ baseURL: processes[number]?.address as string });
  contexts.push(context);
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(`${error.message} ${(error as { cause?: unknown }).cause ?? ""}`));
  await page.goto(path);
  return page;
}

const titles = (page: Page) => page.evaluate<string>("titles()");
const expectTitles = (page: Page, list: string) => expect.poll(() => titles(page)).toBe(list);
const evaluate = (page: Page, code: string) => page.evaluate(code);

/** Returns the different lists that a page has shown, oldest first. */
async function shownBy(page: Page): Promise<string[]> {
  const all = (await evaluate(page, "shown")) as string[];
  return all.filter((list, index) => list !== all[index - 1]);
}

describe("a live list", () => {
  it("is in the markup of the server, and stays current in the pages of other processes", async () => {
    const [ada, bob] = [await open(0), await open(1)];
    await evaluate(ada, 'add("one")');
    expect(await titles(ada)).toBe("one"); // the call has landed
    await expectTitles(bob, "one");
    await evaluate(bob, 'add("two")');
    expect(await titles(bob)).toBe("one,two");
    await expectTitles(ada, "one,two");
    const html = await (await fetch(`${processes[2]?.address}/${board}`)).text();
    expect(html).toContain("<li>one</li><li>two</li>");
  });

  it("is shared by the tabs of a browser, also with one that has loaded another value", async () => {
    const first = await open(0);
    const second = await contexts[0]?.newPage();
    if (!second) throw new Error("no tab");
    await evaluate(first, 'add("one")');
    await second.goto(`/${board}`);
    for (const n of ["two", "three"]) await evaluate(first, `add("${n}")`);
    await evaluate(second, 'add("four")');
    expect(await titles(second)).toBe("one,two,three,four");
    await expectTitles(first, "one,two,three,four");
    await first.close();
    await evaluate(second, 'add("five")');
    await expectTitles(second, "one,two,three,four,five");
  });

  it("is given by a server function later, and shares its value with the first one", async () => {
    const page = await open();
    await evaluate(page, 'add("one")');
    await evaluate(page, `open("${board}")`);
    await expect.poll(() => page.locator("ol").textContent()).toBe("one");
    await evaluate(page, 'add("two")');
    expect(await page.locator("ol").textContent()).toBe("onetwo");
    await evaluate(page, 'open("b")');
    await evaluate(page, 'add("three")');
    expect(await titles(page)).toBe("one,two,three");
  });

  it("is taken away from those who may not see it any more, and given back", async () => {
    const page = await open();
    await evaluate(page, 'add("one")');
    await evaluate(page, 'addNow("secret")');
    await expectTitles(page, "");
    expect(await page.locator("p").textContent()).toContain("forbidden");
    rmSync(env.CARDS_FILE as string);
    await evaluate(page, 'addNow("two")');
    await expectTitles(page, "two");
    expect(await page.locator("p").textContent()).not.toContain("forbidden");
  });

  it("that is no list is taken away from views that read the error, and the page of others is loaded again", async () => {
    const [ada, checked, other] = [
      await open(0),
      await open(1, `/checked/${board}`),
      await open(2, `/summary/${board}`),
    ];
    await evaluate(ada, 'add("one")');
    for (const page of [checked, other]) await expect.poll(() => page.textContent("h1")).toBe("1");
    await evaluate(checked, "globalThis.isSame = true");
    const reloaded = other.waitForResponse((response) => response.url().endsWith(`/summary/${board}`));
    await evaluate(ada, 'addNow("secret")');
    await expect.poll(() => checked.textContent("h1")).toBe("forbidden");
    expect((await reloaded).status()).toBe(403); // the server decides what is shown
    rmSync(env.CARDS_FILE as string);
    await evaluate(ada, 'addNow("two")');
    await expect.poll(() => checked.textContent("h1")).toBe("1");
    expect(await evaluate(checked, "isSame")).toBe(true);
  });

  it("is current in the pages of two processes on NATS, and shows a change once", async () => {
    const nats = await NatsServer.start();
    try {
      const { WEB_BUS_URL } = sharedEnv(nats.url);
      processes.push(
        ...(await Promise.all(
          [4, 5].map(() => AppProcess.start(project.dir, { ...env, WEB_BUS_URL: WEB_BUS_URL ?? "" })),
        )),
      );
      const [ada, bob] = [await open(3), await open(4)];
      expect(await evaluate(ada, 'add("one").then(() => titles())')).toBe("one"); // the call has landed
      await expectTitles(bob, "one");
      expect(await evaluate(bob, 'propose("two", 300).then(() => titles() + list.pending.length)')).toBe("one,two0");
      expect(await shownBy(bob)).toEqual(["", "one", "one,two"]);
      await processes[4]?.kill();
      await evaluate(ada, 'add("three")');
      await processes[4]?.restart();
      await expectTitles(bob, "one,two,three");
      await expectTitles(ada, "one,two,three");
    } finally {
      for (const context of contexts.splice(0)) await context.close();
      for (const process of processes.splice(3)) await process.stop();
      await nats.stop();
    }
  });

  it("continues at another process when its own is killed", async () => {
    const [ada, bob] = [await open(0), await open(1)];
    await evaluate(ada, 'add("one")');
    await expectTitles(bob, "one");
    await processes[1]?.kill();
    await evaluate(ada, 'add("two")');
    await processes[1]?.restart();
    await expectTitles(bob, "one,two");
    await evaluate(bob, 'add("three")');
    expect(await titles(bob)).toBe("one,two,three");
    expect(await shownBy(bob)).toEqual(["", "one", "one,two", "one,two,three"]);
  });

  it("is current again when the page is restored by Back", async () => {
    const fullBrowser = await launch({ fullBrowser: true }); // it keeps pages for Back
    onTestFinished(() => fullBrowser.close());
    const [ada, bob] = [await open(0), await open(1, `/${board}`, fullBrowser)];
    await evaluate(ada, 'add("one")');
    await bob.goto("about:blank");
    await evaluate(ada, 'add("two")');
    await goBack(bob);
    await expectTitles(bob, "one,two");
  });
});

describe("an optimistic change", () => {
  it("is shown at once, and replaced by the value of the server in one rendering", async () => {
    const [ada, bob] = [await open(0), await open(1)];
    const shown = await evaluate(
      ada,
      `void propose("one", 1_000);
      new Promise((resolve) => setTimeout(() => resolve([titles(), document.querySelector("p").textContent]), 100))`,
    );
    expect(shown).toEqual(["one", expect.stringContaining("sent")]);
    await expectTitles(bob, "one");
    await expect.poll(() => ada.locator("p").textContent()).not.toContain("sent");
    expect(await shownBy(ada)).toEqual(["", "one"]);
  });

  it("resolves when it has landed", async () => {
    const page = await open();
    expect(await evaluate(page, 'propose("one").then(() => titles() + list.pending.length)')).toBe("one0");
  });

  it("goes back if the call fails", async () => {
    const page = await open();
    await evaluate(page, 'propose("bad", 100)');
    await expectTitles(page, "");
    expect(await shownBy(page)).toEqual(["", "bad", ""]);
    expect(await page.locator("p").textContent()).toContain("conflict");
  });

  it("is shown once among changes of others, in any order", async () => {
    const [ada, bob] = [await open(0), await open(1)];
    const delays = [400, 100, 250, 0];
    await Promise.all([
      ...delays.map((ms, n) => evaluate(ada, `propose("ada${n}", ${ms})`)),
      ...delays.map((ms, n) => evaluate(bob, `propose("bob${n}", ${ms})`)),
    ]);
    await expect.poll(async () => (await titles(ada)).split(",")).toHaveLength(8);
    await expectTitles(bob, await titles(ada));
    for (const [page, name] of [
      [ada, "ada"],
      [bob, "bob"],
    ] as const) {
      const known = new Set<string>();
      for (const list of await shownBy(page)) {
        const own = list.split(",").filter((title) => title.startsWith(name));
        expect(new Set(own).size, list).toBe(own.length);
        for (const title of known) expect(own, list).toContain(title);
        for (const title of own) known.add(title);
      }
    }
  });

  it("is replaced by a value that the page requests if the call has published nothing", async () => {
    const page = await open();
    expect(await evaluate(page, 'proposeSilently("one").then(() => titles() + list.pending.length)')).toBe("one0");
    expect(await shownBy(page)).toEqual(["", "one"]);
  });

  it("is unknown if the server is killed during the call, until the page has a newer value", async () => {
    const page = await open();
    await evaluate(page, 'void propose("one", 5_000)');
    await processes[0]?.kill();
    await expect.poll(() => page.locator("p").textContent()).toContain("unknown");
    expect(await titles(page)).toBe("one");
    await processes[0]?.restart();
    await expect.poll(() => page.locator("p").textContent()).not.toContain("unknown");
    expect(await titles(page)).toBe("");
  });
});

describe("a call", () => {
  it("lands in a page that shows its effect, unless it is made with no_wait", async () => {
    const page = await open();
    expect(await evaluate(page, 'add("one").then(() => titles())')).toBe("one");
    await evaluate(page, 'addNow("two")');
    await expectTitles(page, "one,two");
  });
});

/**
 * Forms of idempotent functions in the full Chromium, which keeps pages for Back: what is sent again has the first outcome.
 * @see docs/protocol.md 15.8
 */
import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { BrowserUsers } from "#test/browser-users";
import { listen } from "#test/listen";
import { RedisServer } from "#test/redis-server";
import { serveInFullBrowser } from "./back-app.ts";
import { launch, startBack } from "./chromium.ts";

const FILES = {
  runs: "",
  "src/app.ts": `
    import { App } from "tsweb";
    import * as functions from "./functions.server.ts";
    import * as pages from "./pages.server.tsx";
    export default new App({ title: "Orders", modules: [functions, pages], rate: false });`,
  "src/functions.server.ts": `
    import { appendFileSync, readFileSync } from "node:fs";
    import { redirect, server } from "tsweb";
    const run = (item: string) => {
      appendFileSync("runs", item + "\\n");
      return readFileSync("runs", "utf8").split("\\n").length - 1;
    };
    const wait = () => new Promise((resolve) => setTimeout(resolve, 200));
    export const order = server({ idempotent: true }, async (item: string) => {
      const run_ = run(item);
      await wait();
      return redirect("/thanks/" + run_);
    });
    export const show = server({ idempotent: true }, async (item: string) => "order " + run(item));`,
  "src/pages.server.tsx": `
    import { form, page } from "tsweb";
    import { order, show } from "./functions.server.ts";
    import { Order } from "./order.tsx";
    export const plain = page("/plain", () => {
      const shown = form(show);
      return <main>
        <form id="order" action={order}><input name="item" defaultValue="tea" /><button>order</button></form>
        <form id="show" action={shown}><input name="item" defaultValue="tea" /><button>show</button></form>
        <output>{shown.result}</output>
      </main>;
    });
    export const script = page("/script", () => <main><Order /></main>);
    export const thanks = page("/thanks/:run", ({ run }) => <output>{"order " + run}</output>);`,
  "src/order.tsx": `
    import { on_mount, state, view } from "tsweb/browser";
    import { order, show } from "./functions.server.ts";
    export const Order = view(() => {
      const shown = state({ calls: [] as string[] });
      on_mount(() => { document.documentElement.dataset.ready = "yes"; });
      const key = "0123456789-abcdef";
      const call = async () => { shown.calls.push(await show.named({ item: "call" }, { key })); };
      return <section>
        <form id="order" action={order}><input name="item" defaultValue="tea" /><button>order</button></form>
        <button id="call" type="button" onClick={call}>call</button>
        <output>{shown.calls.join()}</output>
      </section>;
    });`,
};

const app = serveInFullBrowser(FILES);
let page: Page;
let item: string;

let items = 0;
beforeEach(() => {
  page = app.page;
  item = `tea ${++items}`;
});

const runs = () => readFileSync(app.project.file("runs"), "utf8").split("\n").slice(0, -1);
const runsOf = (name: string) => runs().filter((run) => run === name).length;

describe.each(["plain", "script"])("a form of an idempotent function on the page /%s", (path) => {
  beforeEach(async () => {
    await page.goto(`/${path}`);
    if (path === "script") await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
    await page.fill("#order input", item);
  });

  const outcome = async () => {
    await expect.poll(() => page.url()).toMatch(/\/thanks\//); // a second click ends the first navigation
    return page.textContent("output");
  };

  it("runs once for a double click [ONCE-10]", async () => {
    await page.dblclick("#order button");
    expect(await outcome()).toBe(`order ${runs().length}`);
    expect(runsOf(item)).toBe(1);
  });

  it("has the first outcome after Back, and runs for other fields [ONCE-11]", async () => {
    await page.evaluate(() => Object.assign(globalThis, { isMarked: true }));
    await page.click("#order button");
    const first = await outcome();
    await startBack(page);
    await page.waitForURL(new RegExp(`/${path}$`), { waitUntil: "commit" });
    await expect.poll(() => page.evaluate("globalThis.isMarked")).toBe(true);
    await page.fill("#order input", item);
    await page.click("#order button");
    expect(await outcome()).toBe(first);
    expect(runsOf(item)).toBe(1);
    await startBack(page);
    await page.waitForURL(new RegExp(`/${path}$`), { waitUntil: "commit" });
    await page.fill("#order input", `more ${item}`);
    await page.click("#order button");
    expect(await outcome()).not.toBe(first);
    expect(runsOf(`more ${item}`)).toBe(1);
  });
});

it("shows the first outcome when the page that answered is reloaded [ONCE-12]", async () => {
  await page.goto("/plain");
  await page.fill("#show input", item);
  await page.click("#show button");
  await page.waitForURL(/__form=show/);
  const first = await page.textContent("output");
  expect(first).toBe(`order ${runs().length}`);
  await page.reload();
  expect(await page.textContent("output")).toBe(first);
  expect(runsOf(item)).toBe(1);
});

it("runs a call in the browser once for its key", async () => {
  await page.goto("/script");
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
  await page.click("#call");
  await expect.poll(() => page.textContent("output")).toMatch(/^order \d+$/);
  const first = await page.textContent("output");
  await page.click("#call");
  await expect.poll(() => page.textContent("output")).toBe(`${first},${first}`);
  expect(runsOf("call")).toBe(1);
});

/** The headless shell, which keeps no page for Back. */
let shell: Browser;
let users: BrowserUsers | undefined;
beforeAll(async () => {
  shell = await launch();
});
afterEach(async () => {
  await users?.closeAll();
  expect(users?.problems ?? []).toEqual([]);
  users = undefined;
});
afterAll(() => shell?.close());

describe("a page that Back loads again", () => {
  /** Orders, goes back, and orders again. Returns both outcomes. */
  async function orderTwice(path: string) {
    users = new BrowserUsers(shell, { baseURL: app.running.address });
    page = await users.newPage();
    const outcome = async () => {
      await page.waitForURL(/\/thanks\//);
      return page.textContent("output");
    };
    const order = async () => {
      if (path === "/script") await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
      await page.fill("#order input", item);
      await page.click("#order button");
      return outcome();
    };
    await page.goto(path);
    await page.evaluate(() => Object.assign(globalThis, { isMarked: true }));
    const first = await order();
    await startBack(page);
    await page.waitForURL(new RegExp(`${path}$`));
    expect(await page.evaluate("globalThis.isMarked")).toBeUndefined();
    return [first, await order()];
  }

  it("sends a form of a script with its first key, and gets the first outcome [ONCE-14]", async () => {
    const [first, second] = await orderTwice("/script");
    expect(second).toBe(first);
    expect(runsOf(item)).toBe(1);
    await page.goto("/script"); // no Back: another submission
    await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
    await page.fill("#order input", item);
    await page.click("#order button");
    await page.waitForURL(/\/thanks\//);
    expect(runsOf(item)).toBe(2);
  });

  it("has a new key if its form is sent without script", async () => {
    const [first, second] = await orderTwice("/plain");
    expect(second).not.toBe(first);
    expect(runsOf(item)).toBe(2);
  });
});

describe("two processes on one Redis", () => {
  it.each(["plain", "script"])("run a double click on the page /%s once [ONCE-15]", async (path) => {
    const redis = await RedisServer.start();
    const env = sharedEnv(redis.url);
    const apps = await Promise.all([AppProcess.start(app.project.dir, env), AppProcess.start(app.project.dir, env)]);
    let next = 0; // the next request always goes to the other process
    const balancer = await listen((request, response) => {
      const target = next++ % 2;
      const { method, headers } = request;
      const forwarded = httpRequest(`${apps[target]?.address}${request.url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      forwarded.on("error", () => response.destroy()); // the browser has ended the first request of a double click
      response.on("close", () => forwarded.destroy());
      request.pipe(forwarded);
    });
    try {
      users = new BrowserUsers(shell, { baseURL: balancer.address });
      page = await users.newPage();
      await page.goto(`/${path}`);
      if (path === "script") await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
      await page.fill("#order input", item);
      await page.dblclick("#order button");
      await expect.poll(() => page.url()).toMatch(/\/thanks\//); // a second click ends the first navigation
      expect(await page.textContent("output")).toBe(`order ${runs().length}`);
      expect(runsOf(item)).toBe(1);
    } finally {
      await balancer.close();
      await Promise.all(apps.map((one) => one.stop()));
      await redis.stop();
    }
  });
});

/**
 * Live updates in the development server, in Chromium: presence over an edit, in tabs that share a connection, a live query over edits
 * of a view with hooks of Preact, and the warning about streaming calls that hidden tabs hold.
 */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as functions from "./functions.server.ts";
    import * as pages from "./pages.server.tsx";
    export default new App({ title: "Live", modules: [functions, pages], rate: false });`,
  "src/functions.server.ts": `
    import { publish, query, request, server } from "tsweb";
    export const say = server((text: string) => publish("room", text));
    const store = globalThis as { lines?: string[] }; // an edit runs this module again
    export const lines = query({ on: ["lines"] }, () => ({ text: (store.lines ?? []).join() }));
    export const write = server(async (line: string) => {
      store.lines = [...(store.lines ?? []), line];
      await publish("lines");
    });
    export const watch = server(async function* () {
      yield 1;
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    });`,
  "src/pages.server.tsx": `
    import { channel, page, presence } from "tsweb";
    import { lines } from "./functions.server.ts";
    import { Lines } from "./lines.tsx";
    import { Room } from "./room.tsx";
    export const list = page("/lines", async () => <Lines lines={await lines.live()} />);
    export const room = page("/", async () => (
      <Room feed={await channel<string>("room")} here={await presence("room", "guest", { anonymous: true })} />
    ));`,
  "src/lines.tsx": `
    import { useState } from "preact/hooks";
    import { live, type LiveHandle, state, view } from "tsweb/browser";
    import { write } from "./functions.server.ts";
    export const Lines = view(({ lines }: { lines: LiveHandle<{ text: string }> }) => {
      const shown = live(lines);
      const own = state({ count: 1 });
      const [clicks, setClicks] = useState(10);
      return (
        <>
          <h1>First</h1>
          <p id="lines">{shown.value.text}</p>
          <button id="write" onClick={() => write("line")}>Write</button>
          <button id="count" onClick={() => own.count++}>{own.count}</button>
          <button id="clicks" onClick={() => setClicks(clicks + 1)}>{clicks}</button>
        </>
      );
    });`,
  "src/room.tsx": `
    import { type Feed, on_mount, type Presence, present, state, subscribe, view } from "tsweb/browser";
    import { say, watch } from "./functions.server.ts";
    export const Room = view(({ feed, here }: { feed: Feed<string>; here: Presence<string> }) => {
      const people = present(here);
      const room = state({ texts: [] as string[], watched: 0 });
      on_mount(() => subscribe(feed, (text) => room.texts.push(text)));
      const read = async () => {
        for await (const n of watch()) room.watched = n;
      };
      return (
        <>
          <h1>First</h1>
          <p id="people">{people.list.length}</p>
          <p id="texts">{room.texts.join()}</p>
          <button id="say" onClick={() => say(\`text \${room.texts.length + 1}\`)}>Say</button>
          <button id="watch" onClick={read}>{room.watched}</button>
        </>
      );
    });`,
};

let browser: Browser;
let project: TestProject;
let dev: RunningServer;
let context: BrowserContext;
let messages: string[];

beforeAll(async () => {
  project = TestProject.fromFiles(FILES);
  project.linkPackages(repository, ["preact"]);
  [dev, browser] = await Promise.all([startDev(project.dir), launch()]);
});

afterAll(async () => {
  await browser?.close();
  expect(await dev?.stop()).toBe(0);
  project?.remove();
});

beforeEach(async () => {
  context = await browser.newContext({ baseURL: dev.address });
  messages = [];
  context.on("console", (message) => messages.push(message.text()));
});

afterEach(() => context.close());

async function open(path = "/"): Promise<Page> {
  const page = await context.newPage();
  await page.goto(path);
  return page;
}

const expectText = (page: Page, selector: string, text: string) =>
  expect.poll(() => page.textContent(selector), { timeout: 20_000 }).toBe(text);

it("tabs that share a connection stay present, and receive messages, over edits of a view and of the server", async () => {
  const tabs = [await open(), await open()] as const;
  for (const tab of tabs) await expectText(tab, "#people", "2");
  // One lock for each tab, and one for the connection.
  const locks = () => tabs[0].evaluate(async () => (await navigator.locks.query()).held?.map(({ name = "" }) => name));
  await expect.poll(async () => (await locks())?.filter((name) => name.startsWith("tsweb/1")).length).toBe(3);
  for (const [file, from, to] of [
    ["src/room.tsx", "<h1>First</h1>", "<h1>Second</h1>"],
    ["src/functions.server.ts", 'publish("room", text)', 'publish("room", text.toUpperCase())'],
  ] as const) {
    project.write(file, project.read(file).replace(from, to));
    for (const tab of tabs) await expectText(tab, "h1", "Second");
  }
  await expect
    .poll(async () => {
      await tabs[0].click("#say");
      return tabs[1].textContent("#texts");
    })
    .toContain("TEXT");
  for (const tab of tabs) await expectText(tab, "#people", "2");
  const third = await open();
  for (const tab of [...tabs, third]) await expectText(tab, "#people", "3");
  await third.close();
  for (const tab of tabs) await expectText(tab, "#people", "2");
});

it("a live query and the states of a view, also those of useState, are kept over an edit of it, and the query over one of its module", async () => {
  const page = await open("/lines");
  // The first click may come before the view is hydrated.
  await expect
    .poll(async () => {
      await page.click("#write");
      return page.textContent("#lines");
    })
    .toMatch(/^line/);
  for (const button of ["#count", "#clicks"]) await page.click(button);
  await page.evaluate(() => Object.assign(window, { sameDocument: true }));
  project.write("src/lines.tsx", project.read("src/lines.tsx").replace("<h1>First", "<h1>Second"));
  await expectText(page, "h1", "Second");
  expect([await page.textContent("#count"), await page.textContent("#clicks")]).toEqual(["2", "11"]);
  expect(await page.evaluate(() => "sameDocument" in window)).toBe(true);
  await page.click("#clicks");
  await expectText(page, "#clicks", "12");
  const before = await page.textContent("#lines");
  expect(before).toMatch(/^line/);
  await page.click("#write");
  await expect.poll(async () => (await page.textContent("#lines"))?.startsWith(`${before},line`)).toBe(true);
  const functions = project.read("src/functions.server.ts");
  project.write("src/functions.server.ts", functions.replace("?? []).join() }", '?? []).join(" and ") }'));
  // The edit publishes nothing: the page shows the value of the edited query with the next message, or when it loads again.
  await expect
    .poll(
      async () => {
        await page.click("#write");
        return page.textContent("#lines");
      },
      { timeout: 20_000 },
    )
    .toContain("line and line");
  expect(messages.filter((text) => /error/i.test(text))).toEqual([]);
});

it("warns at the fifth streaming call that hidden tabs hold", { timeout: 60_000 }, async () => {
  await context.addInitScript(() => {
    // Chromium shows all tabs of a test. The locks, by which tabs count the streams, are its own.
    let isHidden = false;
    Object.defineProperty(document, "hidden", { get: () => isHidden });
    addEventListener("hide-page", () => {
      isHidden = true;
      document.dispatchEvent(new Event("visibilitychange"));
    });
  });
  const isWarning = (text: string) => text.includes("Hidden tabs of this browser hold 5 streaming calls");
  for (let n = 1; n <= 5; n++) {
    expect(messages.filter(isWarning)).toEqual([]);
    const tab = await open();
    await expectText(tab, "#people", `${n}`); // the view is hydrated
    await tab.click("#watch");
    await expectText(tab, "#watch", "1");
    await tab.evaluate(() => dispatchEvent(new Event("hide-page")));
    await tab.evaluate(async () => {
      while (!(await navigator.locks.query()).held?.some(({ name }) => name?.startsWith("tsweb/dev/"))) await 0;
    });
  }
  await expect.poll(() => messages.filter(isWarning).length).toBe(1);
  expect(messages.find(isWarning)).toContain("the last one of watch");
  expect(dev.output()).toContain("Hidden tabs of this browser hold 5 streaming calls");
});

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Running, startDev } from "#test/run-tsweb";
import { launch } from "../browser/chromium.ts";
import { Project } from "./project.ts";

const FILES = {
  "package.json": '{ "type": "module" }',
  "src/app.ts":
    'import { App } from "tsweb";\nimport * as pages from "./pages.server.tsx";\nexport default new App({ title: "Hot", modules: [pages] });',
  "src/pages.server.tsx": `import { page, server } from "tsweb";
import { Counter } from "./counter.tsx";
export const greet = server(() => "hello");
export const home = page("/", () => <main><h1>First title</h1><Counter start={1} /></main>);`,
  "src/counter.tsx": `import { state, view } from "tsweb/browser";
import { useState } from "preact/hooks";
import { greet } from "./pages.server.tsx";
export const Counter = view(({ start }: { start: number }) => {
  const mine = state({ count: start });
  const [own, setOwn] = useState(10);
  return (
    <p>
      <button id="mine" onClick={() => { mine.count++; }}>first {mine.count}</button>
      <button id="own" onClick={() => setOwn(own + 1)}>{own}</button>
      <button id="greet" onClick={async () => { document.title = await greet(); }}>greet</button>
    </p>
  );
});`,
};

describe("an edit while a page is open", () => {
  let browser: Browser;
  let project: Project;
  let running: Running;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    project = new Project(FILES);
    project.install("tsweb", "preact");
    running = await startDev(project.root);
    page = await browser.newPage();
    page.setDefaultTimeout(5_000);
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(running.address);
    // The first visit may load twice, once the dependencies are known; the button works when all is there.
    await expect.poll(() => increase("#mine"), { timeout: 20_000 }).toBe("first 3");
    await page.click("#own");
    await page.evaluate(() => Object.assign(window, { sameDocument: true }));
  });

  afterEach(async () => {
    await page?.close();
    await running?.stop();
    expect(complaints.splice(0)).toEqual([]);
  });

  async function increase(button: string): Promise<string | null> {
    await page.click(button);
    return page.textContent(button);
  }

  const change = (file: keyof typeof FILES, from: string, to: string) =>
    project.write(file, FILES[file].replace(from, to));
  const isSameDocument = () => page.evaluate(() => "sameDocument" in window);

  test("of a view shows, with what it held", async () => {
    const [mine, own] = [await page.textContent("#mine"), await page.textContent("#own")];
    change("src/counter.tsx", "first {mine.count}", "second {mine.count}");
    await expect.poll(() => page.textContent("#mine")).toBe(mine?.replace("first", "second"));
    expect(await page.textContent("#own")).toBe(own);
    expect(await isSameDocument()).toBe(true);
    // And it lives on: what it held is not a picture of it.
    const count = Number(mine?.replace(/\D/g, ""));
    expect(await increase("#mine")).toBe(`second ${count + 1}`);
  });

  test("of a page reloads it", async () => {
    change("src/pages.server.tsx", "First title", "Second title");
    await expect.poll(() => page.textContent("h1")).toBe("Second title");
    await expect.poll(isSameDocument).toBe(false);
  });

  test("of a server function is what the next call runs", async () => {
    change("src/pages.server.tsx", '"hello"', '"changed"');
    await expect.poll(isSameDocument).toBe(false);
    await expect
      .poll(async () => {
        await page.click("#greet");
        return page.title();
      })
      .toBe("changed");
  });
});

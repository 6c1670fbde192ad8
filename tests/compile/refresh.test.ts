import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RunningServer, startDev } from "#test/run-tsweb";
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

describe("while a page is open, an edit", () => {
  let browser: Browser;
  let project: Project;
  let server: RunningServer;
  let page: Page;
  const pageErrors: string[] = [];

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    project = new Project(FILES);
    project.install("tsweb", "preact");
    server = await startDev(project.root);
    page = await browser.newPage();
    page.setDefaultTimeout(5_000);
    page.on("pageerror", (error) => pageErrors.push(String(error)));
    await page.goto(server.address);
    // The first visit may reload after Vite has found the dependencies. The button works once all is loaded.
    await expect.poll(() => increase("#mine"), { timeout: 20_000 }).toBe("first 3");
    await page.click("#own");
    await page.evaluate(() => Object.assign(window, { sameDocument: true }));
  });

  afterEach(async () => {
    await page?.close();
    await server?.stop();
    expect(pageErrors.splice(0)).toEqual([]);
  });

  async function increase(button: string): Promise<string | null> {
    await page.click(button);
    return page.textContent(button);
  }

  const edit = (file: keyof typeof FILES, from: string, to: string) =>
    project.write(file, FILES[file].replace(from, to));
  const isSameDocument = () => page.evaluate(() => "sameDocument" in window);

  test("of a view is shown and keeps the view's state", async () => {
    const [mine, own] = [await page.textContent("#mine"), await page.textContent("#own")];
    edit("src/counter.tsx", "first {mine.count}", "second {mine.count}");
    await expect.poll(() => page.textContent("#mine")).toBe(mine?.replace("first", "second"));
    expect(await page.textContent("#own")).toBe(own);
    expect(await isSameDocument()).toBe(true);
    // The state still updates the view.
    const count = Number(mine?.replace(/\D/g, ""));
    expect(await increase("#mine")).toBe(`second ${count + 1}`);
  });

  test("of a page reloads the page", async () => {
    edit("src/pages.server.tsx", "First title", "Second title");
    await expect.poll(() => page.textContent("h1")).toBe("Second title");
    await expect.poll(isSameDocument).toBe(false);
  });

  test("of a server function takes effect in the next call", async () => {
    edit("src/pages.server.tsx", '"hello"', '"changed"');
    await expect.poll(isSameDocument).toBe(false);
    await expect
      .poll(async () => {
        await page.click("#greet");
        return page.title();
      })
      .toBe("changed");
  });
});

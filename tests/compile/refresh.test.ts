import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { repository } from "#test/copy-example";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "../browser/chromium.ts";

const FILES = {
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
  const counter = state({ count: start });
  const [clicks, setClicks] = useState(10);
  return (
    <p>
      <button id="count" onClick={() => { counter.count++; }}>first {counter.count}</button>
      <button id="clicks" onClick={() => setClicks(clicks + 1)}>{clicks}</button>
      <button id="greet" onClick={async () => { document.title = await greet(); }}>greet</button>
    </p>
  );
});`,
};

describe("an edit while a page is open", () => {
  let browser: Browser;
  let project: TestProject;
  let server: RunningServer;
  let page: Page;
  const pageErrors: string[] = [];

  // The tests edit the same project, one after the other, and each changes another text.
  beforeAll(async () => {
    browser = await launch();
    project = TestProject.fromFiles(FILES);
    project.linkPackages(repository, ["preact"]);
    server = await startDev(project.dir);
    page = await browser.newPage();
    page.setDefaultTimeout(5_000); // a click before hydration is tried again
    page.on("pageerror", (error) => pageErrors.push(String(error)));
    await page.goto(server.address, { timeout: 30_000 });
  });
  beforeEach(async () => {
    // The first visit may reload after Vite has found the dependencies. The button works once all is loaded.
    await expect
      .poll(async () => {
        const before = numberIn(await page.textContent("#count"));
        return numberIn(await increase("#count")) - before;
      })
      .toBe(1);
    await page.click("#clicks");
    await page.evaluate(() => Object.assign(window, { sameDocument: true }));
  });
  afterEach(() => {
    expect(pageErrors.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await page?.close();
    await browser?.close();
    await server?.stop();
    project?.remove();
  });

  async function increase(button: string): Promise<string | null> {
    await page.click(button);
    return page.textContent(button);
  }

  const numberIn = (text: string | null) => Number(text?.replace(/\D/g, ""));

  const isSameDocument = () => page.evaluate(() => "sameDocument" in window);

  test("of a view is shown and keeps the view's state", async () => {
    const [countText, clicksText] = [await page.textContent("#count"), await page.textContent("#clicks")];
    project.edit("src/counter.tsx", "first {counter.count}", "second {counter.count}");
    await expect.poll(() => page.textContent("#count")).toBe(countText?.replace("first", "second"));
    expect(await page.textContent("#clicks")).toBe(clicksText);
    expect(await isSameDocument()).toBe(true);
    // The state still updates the view.
    expect(await increase("#count")).toBe(`second ${numberIn(countText) + 1}`);
  });

  test("of a page reloads the page", async () => {
    project.edit("src/pages.server.tsx", "First title", "Second title");
    await expect.poll(() => page.textContent("h1")).toBe("Second title");
    await expect.poll(isSameDocument).toBe(false);
  });

  test("of a server function takes effect in the next call", async () => {
    project.edit("src/pages.server.tsx", '"hello"', '"changed"');
    await expect.poll(isSameDocument).toBe(false);
    await expect
      .poll(async () => {
        await page.click("#greet");
        return page.title();
      })
      .toBe("changed");
  });
});

/**
 * The content security policy in development, in Chromium: violations are reported, and the build tool works nevertheless. That it
 * blocks what it blocks in production, and allows a page to wait for a restart, is tested in vite-plugins.test.ts.
 */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch, styleOf } from "./chromium.ts";
import { BLOCKED_VIEW } from "./vite-plugins-files.ts";

const FILES = {
  "src/app.ts":
    'import { App } from "tsweb";\nimport * as pages from "./pages.server.tsx";\nimport "./style.css";\n' +
    'export default new App({ modules: [pages], policy: { "style-src-attr": null, "img-src": "\'self\'" } });\n',
  "src/pages.server.tsx":
    'import { page } from "tsweb";\nimport { Counter } from "./counter.tsx";\nimport { Blocked } from "./blocked.tsx";\n' +
    'export const home = page("/", () => <main><h1>Home</h1><Counter /></main>);\n' +
    'export const blocked = page("/blocked", () => <main><p id="red" style="color: red">Red</p>' +
    '<style>{"h1 { color: red; }"}</style><img src="http://127.0.0.1:9/photo.png" alt="" /><Blocked /></main>);\n' +
    'export const broken = page("/broken", () => { throw new Error("Broken on purpose"); });\n' +
    'export const plain = page("/plain", { policy: { "script-src": "\'none\'" } }, () => <h1>Plain</h1>);\n',
  "src/counter.tsx":
    'import { state, view } from "tsweb/browser";\nimport styles from "./counter.module.css";\n' +
    "export const Counter = view(() => { const own = state({ count: 0 });\n" +
    '  return <button id="count" class={styles.count} onClick={() => own.count++}>{own.count}</button>; });\n',
  "src/counter.module.css": ".count { color: rgb(1, 2, 3); }\n",
  "src/blocked.tsx": BLOCKED_VIEW,
  "src/style.css": "h1 { color: rgb(4, 5, 6); }\n",
};

let project: TestProject;
let dev: RunningServer;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  project = TestProject.fromFiles(FILES);
  [dev, browser] = await Promise.all([startDev(project.dir), launch()]);
  context = await browser.newContext();
  await context.addInitScript(() => {
    const found: string[] = [];
    Object.assign(window, { violations: found });
    addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
      found.push(`${effectiveDirective} ${blockedURI.replace(/^blob:.*/, "blob")}`);
    });
  });
});

afterAll(async () => {
  await browser?.close();
  const code = await dev?.stop();
  project?.remove();
  expect(code).toBe(0);
});

interface OpenPage {
  readonly page: Page;
  /** Returns the violations so far: directive and what was blocked. */
  violations(): Promise<string[]>;
  readonly errors: string[];
  /** Resolves when the script of the build tool has received its first message. */
  readonly connected: Promise<unknown>;
}

async function open(address: string): Promise<OpenPage> {
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  const connected = new Promise((resolve) => {
    page.on("websocket", (socket) => socket.once("framereceived", resolve));
  });
  await page.goto(address);
  const violations = () => page.evaluate<string[]>("[...new Set(violations)].sort()");
  return { page, violations, errors, connected };
}

const colorOf = (page: Page, selector: string) => styleOf(page, selector, "color");

describe("the content security policy in development", () => {
  it("reports each violation once in the terminal, and in the console of the page, with the option that allows it", async () => {
    const pages = await Promise.all([open(`${dev.address}/blocked`), open(`${dev.address}/blocked`)]);
    const options = [
      `"img-src": "'self' http://127.0.0.1:9"`,
      `"script-src": "'self' 'unsafe-eval'"`,
      `"style-src-attr": "'unsafe-inline'"`,
      `"style-src": "'self' 'unsafe-inline'"`,
      `"worker-src": "'self' blob:"`,
    ].map((option) => `To allow it: new App({ policy: { ${option} } })`);
    for (const option of options) {
      for (const { errors } of pages) {
        await expect.poll(() => errors.filter((error) => error.includes(option)).length).toBe(1);
      }
      await expect.poll(() => dev.output().split(option).length).toBe(2);
    }
    for (const { page } of pages) await page.close();
  });

  it("allows the updates of style sheets, CSS modules and views", async () => {
    const { page, violations, errors, connected } = await open(dev.address);
    await connected;
    const count = () => page.locator("#count").textContent();
    await expect
      .poll(async () => {
        await page.locator("#count").click(); // has no effect before the view is hydrated
        return Number(await count());
      })
      .toBeGreaterThan(0);
    const before = await count();
    expect(await colorOf(page, "#count")).toBe("rgb(1, 2, 3)");
    expect(await colorOf(page, "h1")).toBe("rgb(4, 5, 6)");
    const restores = [
      project.edit("src/counter.module.css", "1, 2, 3", "10, 20, 30"),
      project.edit("src/style.css", "4, 5, 6", "40, 50, 60"),
    ];
    await expect.poll(() => colorOf(page, "#count")).toBe("rgb(10, 20, 30)");
    await expect.poll(() => colorOf(page, "h1")).toBe("rgb(40, 50, 60)");
    expect(await count()).toBe(before); // the page was not reloaded
    for (const restore of restores) restore();
    await expect.poll(() => colorOf(page, "#count")).toBe("rgb(1, 2, 3)");
    expect([await violations(), errors]).toEqual([[], []]);
    await page.close();
  });

  it("allows the style sheet of the error page, and of the overlay that shows an error", async () => {
    const broken = await open(`${dev.address}/broken`);
    // The page reloads after the edits of the test before, and cannot be evaluated meanwhile.
    await expect.poll(() => styleOf(broken.page, "h1", "border-left-width").catch(String)).toBe("4px");
    await expect.poll(broken.violations).toEqual([]);
    await broken.page.close();
    const { page, violations } = await open(dev.address);
    const position = await page.evaluate<string>(`import("/__web/dev/@vite/client").then(({ ErrorOverlay }) => {
      const overlay = new ErrorOverlay({ message: "A syntax error", stack: "" });
      document.body.append(overlay);
      return getComputedStyle(overlay.shadowRoot.querySelector(".backdrop")).position;
    })`);
    expect([position, await violations()]).toEqual(["fixed", []]);
    await page.close();
  });

  it("allows the script of the build tool on a page whose policy forbids scripts", async () => {
    const { page, violations } = await open(`${dev.address}/plain`);
    expect(await violations()).toEqual([]);
    const restore = project.edit("src/pages.server.tsx", "Plain", "Edited");
    await expect.poll(() => page.locator("h1").textContent()).toBe("Edited");
    restore();
    await expect.poll(() => page.locator("h1").textContent()).toBe("Plain");
    await page.close();
  });
});

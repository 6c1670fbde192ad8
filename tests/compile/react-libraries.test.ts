/**
 * React libraries through `@preact/compat`: the files of docs/react-libraries.md built, in Chromium and under plain Node. `npm run
 * matrix -- libraries` also runs them in development, in Vitest and type-checked, and has the charts, whose build takes longer than
 * that of all others.
 */
import { execFile } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { repository } from "#test/copy-example";
import { IS_MATRIX, itInMatrix } from "#test/matrix";
import { createReactProject, installedPackage } from "#test/react-project";
import { build, type RunningServer, runScript, runTsweb, startBuilt, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "../browser/chromium.ts";

const execute = promisify(execFile);
const SECRET = { WEB_AUTH_SECRET: "c1f0a9e37b5d2846b8e1f3097ad465c2e98b7a310f5d64c2817be0943fd6a52c" };
const PAGES = ["/tasks", "/settings", "/members", "/features", ...(IS_MATRIX ? ["/chart", "/chart-2"] : [])];
const CHART = "svg.recharts-surface";
const BARS = ".recharts-bar-rectangle path";

let project: TestProject;
let browser: Browser;

beforeAll(async () => {
  [project, browser] = await Promise.all([
    createReactProject({ hasCharts: IS_MATRIX }),
    launch({ fullBrowser: false }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  project?.remove();
});

const run = (module: string, ...args: string[]) =>
  execute(process.execPath, [join(repository, "node_modules", module), ...args], { cwd: project.dir, env: userEnv() });

/** The environment of a user, without the variables of the test runner. */
function userEnv(): NodeJS.ProcessEnv {
  const { NODE_ENV: _env, VITEST: _vitest, ...env } = process.env;
  return { ...env, WEB_ENV: "development" };
}

const htmlOf = async (server: RunningServer, path: string) => (await fetch(server.address + path)).text();

describe.each(IS_MATRIX ? (["dev", "built"] as const) : (["built"] as const))("in %s", (mode) => {
  let server: RunningServer;
  let users: BrowserUsers;
  let page: Page;

  beforeAll(async () => {
    if (mode === "built") await build(project.dir);
    server = await (mode === "dev" ? startDev(project.dir) : startBuilt(project.dir, SECRET));
    users = new BrowserUsers(browser, { baseURL: server.address });
  });
  afterEach(async () => {
    await users.closeAll();
    expect(users.problems.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    expect(await server?.stop()).toBe(0);
  });

  const open = async (path: string) => {
    page = await users.reusePage();
    await page.goto(path);
  };
  const textOf = (selector: string) => page.textContent(selector);

  test("a card of dnd-kit is dragged to another column", async () => {
    await open("/tasks");
    const card = page.locator("#todo button", { hasText: "Write" });
    await page.evaluate(() => {
      for (const list of document.querySelectorAll("ul")) list.style.minHeight = "100px"; // an empty list has no area
    });
    await page.locator("[role=status]").waitFor({ state: "attached" }); // dnd-kit adds it after the hydration
    await drag(card, "#done");
    await expect.poll(() => textOf("#done")).toBe("Write");
    expect(await textOf("#todo")).toBe("Test");
  });

  async function drag(from: ReturnType<Page["locator"]>, to: string): Promise<void> {
    const [start, end] = [await from.boundingBox(), await page.locator(to).boundingBox()];
    if (!start || !end) throw new Error("The card or the column is not visible.");
    await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
    await page.mouse.down();
    await page.mouse.move(end.x + end.width / 2, end.y + end.height / 2, { steps: 10 });
    await page.locator(`${to}.over`).waitFor(); // dnd-kit updates the target after the next frame
    await page.mouse.up();
  }

  /** Clicks until the dialog is open: nothing happens before the view is hydrated. */
  async function openDialog(): Promise<void> {
    await expect
      .poll(async () => {
        if ((await page.locator("#dialog").count()) === 0) await page.click("#rename");
        return page.locator("#dialog").count();
      })
      .toBe(1);
  }

  test("a dialog of Radix UI opens in the body, keeps the focus, and closes with Escape", async () => {
    await open("/settings");
    await openDialog();
    expect(await page.locator("body > #dialog").count()).toBe(1);
    await page.fill("#name", "Roadmap");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.querySelector("#dialog")?.contains(document.activeElement))).toBe(true);
    await page.keyboard.press("Escape");
    await page.locator("#dialog").waitFor({ state: "detached" });
    expect(await textOf("#rename")).toBe("Rename Roadmap");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("rename");
  });

  test("a select of Radix UI is opened with the mouse, and changes the state of the view", async () => {
    await open("/settings");
    expect(await textOf("#color")).toBe("red");
    const option = page.getByRole("option", { name: "green" });
    await expect
      .poll(async () => {
        if ((await option.count()) === 0) await page.click("#color");
        return option.count();
      })
      .toBe(1);
    await option.click();
    await expect.poll(() => textOf("#color")).toBe("green");
  });

  itInMatrix("Recharts 2 draws its bars on the server, and hydrates them", async () => {
    const html = await htmlOf(server, "/chart-2");
    expect(html.match(/recharts-bar-rectangle"/g)).toHaveLength(1);
    await open("/chart-2");
    await page.locator(CHART).evaluate((chart) => Object.assign(chart, { isFromServer: true }));
    await expect.poll(clickMore).toBeGreaterThan(1);
    expect(await page.locator(CHART).evaluate((chart) => "isFromServer" in chart)).toBe(true);
  });

  itInMatrix("Recharts 3 draws its bars in the browser, from a state that it freezes", async () => {
    const html = await htmlOf(server, "/chart");
    expect(html).toContain("recharts-wrapper");
    expect(html).not.toContain("<svg");
    await open("/chart");
    await expect.poll(() => page.locator(BARS).count()).toBe(2);
    await expect.poll(clickMore).toBeGreaterThan(2);
  });

  async function clickMore(): Promise<number> {
    await page.click("#more");
    return page.locator(BARS).count();
  }

  test("TanStack Query calls server functions, and shows the message of an error", async () => {
    expect(await htmlOf(server, "/members")).toContain('<p id="members">Ada</p>');
    await open("/members");
    await expect
      .poll(async () => {
        await page.click("#add");
        return textOf("#members");
      })
      .toBe("Ada, Grace");
    await page.click("#add");
    await expect.poll(() => textOf("[role=alert]")).toBe("Grace is a member already.");
  });

  test("hooks, contexts, portals, class components, error boundaries and lazy components of React work", async () => {
    const served = await htmlOf(server, "/features");
    const servedIds = [...served.matchAll(/<input id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(servedIds).size).toBe(4);
    await open("/features");
    const view = page.locator("#features").first();
    await expect.poll(() => page.locator("body > #portal").count()).toBe(2);
    expect(await view.getAttribute("data-effects")).toBe("1");
    const inputs = page.locator("#features input");
    expect(await inputs.evaluateAll((elements) => elements.map(({ id }) => id))).toEqual(servedIds);
    expect(await view.locator("label").first().getAttribute("for")).toBe(servedIds[0]);
    await view.locator("#focus").click();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe(servedIds[0]);
    await view.locator("#store").click();
    await expect.poll(() => page.locator("#store").allTextContents()).toEqual(["2 km", "2 km"]);
    await view.locator("#load").click();
    await expect.poll(() => view.locator("#lazy").textContent()).toBe("Loaded");
    await view.locator("#break").click();
    await expect.poll(() => view.locator("#caught").textContent()).toBe("Broken on purpose");
  });

  for (const kind of ["18/element", "18/hook", "18/memo", "18/class", "19/element", "19/hook", "19/memo", "19/class"]) {
    test(`a page with a component of React itself is an error that says so: ${kind}`, async () => {
      await expectError(`/foreign/${kind}`, "was made with React, which cannot be rendered here");
    });
  }

  for (const version of ["18", "19"]) {
    test(`an element of React ${version} in other markup is an error`, async () => {
      await expectError(`/wrapped/${version}`, "<b> was made with React");
    });
  }

  test("a component that suspends in a page is an error that says so", async () => {
    await expectError("/suspended", "suspended: it threw a promise");
  });

  /** Expects a page to fail, and its error in the log of the request. */
  async function expectError(path: string, message: string): Promise<void> {
    const { length } = server.output();
    expect((await fetch(server.address + path)).status).toBe(500);
    await expect.poll(() => server.output().slice(length)).toContain(message);
  }

  if (mode === "built") {
    test("what the server has rendered for a component stays while it suspends in the browser, and is hydrated then", async () => {
      await open("/resuming");
      const element = await page.waitForSelector("#resumed");
      await page.waitForFunction(() => "resume" in globalThis);
      expect(await textOf("section")).toBe("From the server");
      await page.evaluate("resume()");
      await page.waitForFunction(() => "isResumed" in globalThis);
      expect(await element.evaluate((shown) => shown.isConnected)).toBe(true);
      expect(await textOf("section")).toBe("From the server");
    });

    test("only pages with a React library load compat and the hooks of Preact", async () => {
      const scriptsOf = async (path: string) => {
        await open(path);
        await page.waitForLoadState("networkidle");
        const urls = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
        const texts = urls.filter((url) => url.endsWith(".js")).map(async (url) => (await fetch(url)).text());
        return (await Promise.all(texts)).join("\n");
      };
      const marks = ["react.element", "__H"];
      const [plain, tasks] = [await scriptsOf("/"), await scriptsOf("/tasks")];
      for (const mark of marks) {
        expect(tasks).toContain(mark);
        expect(plain).not.toContain(mark);
      }
      expect(plain.length).toBeGreaterThan(1000);
    });
  } else {
    test("a page is not reloaded when its view is the first with a package", async () => {
      for (const path of PAGES) {
        await open(path);
        await page.waitForLoadState("networkidle");
      }
      // Vite logs the reload.
      expect(server.output()).not.toContain("optimized dependencies changed");
    });

    test("an edit of a view with a React library is shown, and keeps the states of both", async () => {
      await open("/settings");
      await openDialog();
      await page.fill("#name", "Roadmap");
      const restore = project.edit("src/settings.tsx", "Everyone sees the name.", "All see the name.");
      await expect.poll(() => textOf("#dialog p")).toBe("All see the name.");
      expect(await page.inputValue("#name")).toBe("Roadmap");
      restore();
      await expect.poll(() => textOf("#dialog p")).toBe("Everyone sees the name.");
    });

    test.each(["element", "hook", "memo", "class"])(
      "a component of React itself that only the browser renders is an error that says so: %s",
      async (kind) => {
        await open(`/late/${kind}`);
        await expect
          .poll(async () => {
            await page.dispatchEvent("#show", "click"); // the overlay of the error may be in front of it
            return users.problems.join("\n");
          })
          .toContain("was made with React, which cannot be rendered here");
        await users.closeAll(); // each click fails
        users.problems.splice(0); // React logs the call of its hook, too
      },
    );
  }
});

test("the pages are rendered by plain Node with tsweb/register", async () => {
  const output = await runScript(project.dir, ["scripts/render.ts", ...PAGES], { WEB_ENV: "development" });
  expect(output.trim().split("\n")).toEqual(PAGES.map((path) => `${path} 200`));
});

if (IS_MATRIX) {
  test("the pages are rendered in Vitest with the plugin of tsweb/vite", async () => {
    const { stdout } = await run("vitest/vitest.mjs", "run", "--reporter=json");
    expect(JSON.parse(stdout)).toMatchObject({ numPassedTests: PAGES.length, numFailedTests: 0 });
  });

  test("the documented tsconfig.json gives the libraries their types", async () => {
    await run("typescript/bin/tsc");
  });
}

describe("React itself, installed under its own name", () => {
  let other: TestProject;
  afterEach(() => other.remove());

  test("is an error of the build where browser code imports it", async () => {
    other = TestProject.fromFiles({
      "src/app.ts":
        'import { App } from "tsweb";\nimport * as pages from "./pages.server.tsx";\nexport default new App({ modules: [pages] });\n',
      "src/pages.server.tsx":
        'import { page } from "tsweb";\nimport { Box } from "./box.tsx";\nexport const home = page("/", () => <Box />);\n',
      "src/box.tsx":
        'import { useState } from "react";\nimport { view } from "tsweb/browser";\nexport const Box = view(() => <p>{useState(1)[0]}</p>);\n',
    });
    symlinkSync(join(repository, "node_modules/preact"), other.file("node_modules/preact"), "dir");
    symlinkSync(installedPackage("react-19"), other.file("node_modules/react"), "dir");
    const { code, output } = await runTsweb(other.dir, ["build"]);
    expect(code).toBe(1);
    expect(output).toContain("src/box.tsx imports react, which is React itself");
    expect(output).toContain("npm install react@npm:@preact/compat react-dom@npm:@preact/compat");
    expect(output).not.toContain("    at "); // no stack
  });
});

describe("a second copy of Preact", () => {
  let other: TestProject;
  beforeAll(() => {
    other = TestProject.fromFiles({
      "src/app.ts": 'import { App } from "tsweb";\nexport default new App({ modules: [] });\n',
      "node_modules/react/package.json": '{ "name": "@preact/compat", "version": "18.3.2" }',
      "node_modules/react/node_modules/preact/package.json": '{ "name": "preact", "version": "10.29.0" }',
    });
  });
  afterAll(() => other.remove());

  const COPIES = "Several copies of Preact are installed";
  const SECOND = "10.29.0 in node_modules/react/node_modules/preact, loaded by react";

  test.each(IS_MATRIX ? ["build", "dev", "routes"] : ["build", "dev"])(
    "is reported by tsweb %s without a stack",
    async (command) => {
      const { code, output } = await runTsweb(other.dir, [command]);
      expect(code).toBe(1);
      expect(output).toContain(COPIES);
      expect(output).toContain(SECOND);
      expect(output).not.toContain("    at ");
    },
  );

  test("is reported by tsweb/register", async () => {
    const running = runScript(other.dir, ["src/app.ts"]);
    await expect(running).rejects.toThrow(COPIES);
    await expect(running).rejects.toThrow(SECOND);
  });
});

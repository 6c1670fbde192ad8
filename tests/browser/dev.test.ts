/**
 * The development server in Chromium: the effect of edits, and how errors are shown.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";

let project: TestProject;
let dev: RunningServer;
let browser: Browser;
let users: BrowserUsers;

beforeAll(async () => {
  project = TestProject.copy();
  dev = await startDev(project.dir);
  browser = await launch();
  users = new BrowserUsers(browser, { baseURL: dev.address });
});

/** Functions that restore the files that the test has edited. */
const restores: (() => void)[] = [];

afterEach(async () => {
  await users.closeAll();
  await restoreAll();
  expect(users.problems.splice(0)).toEqual([]);
});

/** Returns the number of edits that the server has detected, and whether the last one has taken effect. */
async function edits(): Promise<{ readonly count: number; readonly isSettled: boolean }> {
  const text = await (await fetch(`${dev.address}/__web/dev/@tsweb/edits`)).text();
  return { count: Number.parseInt(text, 10), isSettled: !text.endsWith("+") };
}

/** Waits until all edits have taken effect. The server may count two edits in quick succession as one. */
async function waitForEdits(): Promise<void> {
  await expect.poll(async () => (await edits()).isSettled).toBe(true);
}

/** Restores all files, and waits for the effect: otherwise the server would reload the page of the next test. */
async function restoreAll(): Promise<void> {
  const pending = restores.splice(0).reverse();
  if (pending.length === 0) return;
  await waitForEdits();
  const { count } = await edits();
  for (const restore of pending) restore();
  await expect.poll(async () => (await edits()).count).toBeGreaterThan(count);
  await waitForEdits();
  await receivePendingReload();
}

/** Opens and closes a page: after an edit without an open page, Vite reloads the next page that connects. */
async function receivePendingReload(): Promise<void> {
  const page = await users.newPage();
  const received = new Promise((resolve) => {
    page.on("websocket", (socket) => socket.once("framereceived", resolve));
  });
  await page.goto("/plain");
  await Promise.race([received, page.waitForTimeout(5_000)]); // a page that shows an error receives nothing
  await users.closeAll();
}

afterAll(async () => {
  await browser?.close();
  const code = await dev?.stop();
  project?.remove();
  expect(code).toBe(0);
});

/** Edits a file until the end of the test. Returns a function that restores it earlier. */
function edit(file: string, search: string, replacement: string): () => void {
  const restore = project.edit(`src/${file}`, search, replacement);
  restores.push(restore);
  return restore;
}

/** Opens the home page, waits until it is hydrated, and changes the state of its view. */
async function openHome(): Promise<Page> {
  const page = await users.newPage();
  await page.goto("/");
  await page.locator("#counter[data-hydrated=true]").waitFor();
  await page.click("#more");
  await page.fill("#name", "Ada");
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  return page;
}

const isSamePage = (page: Page) => page.evaluate(() => "isSamePage" in window);

async function expectStateKept(page: Page): Promise<void> {
  expect(await page.textContent("#count")).toBe("4");
  expect(await page.inputValue("#name")).toBe("Ada");
  expect(await isSamePage(page)).toBe(true);
}

const colorOf = (page: Page, selector: string, property = "color") =>
  page
    .locator(selector)
    .evaluate((element, property) => getComputedStyle(element).getPropertyValue(property), property);

/** Returns a function that returns the output of the server since this call. */
function recordOutput(): () => string {
  const { length } = dev.output();
  return () => dev.output().slice(length).replace(ANSI, "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with the control character ESC
const ANSI = /\u001b\[[0-9;]*m/g;

describe("the first page", () => {
  it("is hydrated, with its style sheets and images", async () => {
    const page = await openHome();
    expect(await page.textContent("#count")).toBe("4");
    await page.click("#greet");
    await page.locator("#greeting", { hasText: "Hello Ada" }).waitFor();
    await page.click("#note");
    await page.locator("#note", { hasText: "Open" }).waitFor();
    expect(await colorOf(page, "h1")).toBe("rgb(10, 20, 30)");
    expect(await colorOf(page, "#name + button + p")).toBe("rgb(1, 2, 3)");
    expect(await colorOf(page, "#counter", "border-top-color")).toBe("rgb(7, 8, 9)");
    expect(await colorOf(page, "#note")).toBe("rgb(40, 50, 60)");
    expect(await page.locator("img").evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(0);
  });

  it("has only the scripts of the development server on a page without views", async () => {
    const page = await users.newPage();
    await page.goto("/plain");
    const scripts = await page.locator("script").evaluateAll((all) => all.map((each) => each.getAttribute("src")));
    expect(scripts).toEqual([
      "/__web/dev/@vite/client",
      "/__web/dev/@id/virtual:tsweb/errors",
      "/__web/dev/@id/virtual:tsweb/policy-violations",
    ]);
  });
});

describe("an edit", () => {
  it.each([5, 15, 30, 45])(
    "that an editor writes in two steps, %i ms apart, takes effect as a whole",
    async (delayMs) => {
      const text = project.read("src/functions.server.ts");
      project.write("src/functions.server.ts", ""); // an editor may truncate the file before it writes the new text
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      project.write("src/functions.server.ts", text);
      await waitForEdits();
      await openHome();
    },
  );

  it("of a view updates the page and keeps the state", async () => {
    const page = await openHome();
    edit("counter.tsx", "More\n", "Still more\n");
    await page.locator("#more", { hasText: "Still more" }).waitFor();
    await expectStateKept(page);
    await page.click("#more");
    expect(await page.textContent("#count")).toBe("5");
  });

  it("that adds a field to a state works at once and keeps the other fields", async () => {
    const page = await openHome();
    edit("counter.tsx", "isMounted: false }", "isMounted: false, tries: 7 }");
    edit("counter.tsx", "More\n", "More {own.tries}\n");
    await page.locator("#more", { hasText: "More 7" }).waitFor();
    await expectStateKept(page);
  });

  it("that adds a state above another one starts with new states", async () => {
    const page = await openHome();
    edit("counter.tsx", "const own =", 'const filter = state({ count: 10, name: "all" });\n  const own =');
    edit("counter.tsx", "More\n", "More {filter.name}\n");
    await page.locator("#more", { hasText: "More all" }).waitFor();
    expect([await page.textContent("#count"), await page.inputValue("#name")]).toEqual(["3", ""]);
    await page.click("#more");
    expect(await page.textContent("#count")).toBe("4");
    expect(await isSamePage(page)).toBe(true);
  });

  it("of a component inside a view updates the page and keeps the state", async () => {
    const page = await openHome();
    edit("badge.tsx", "{text}", "{text} of honour");
    await page.locator("#badge", { hasText: "Badge of honour" }).waitFor();
    await expectStateKept(page);
  });

  it("of a view that is a default export updates the page and keeps the state", async () => {
    const page = await openHome();
    await page.click("#note");
    edit("note.tsx", '"Open"', '"Wide open"');
    await page.locator("#note", { hasText: "Wide open" }).waitFor();
    await expectStateKept(page);
  });

  it.each([
    ["app.css", "rgb(1, 2, 3)", "#greeting", "color"],
    ["pages.css", "rgb(10, 20, 30)", "h1", "color"],
    ["counter.css", "rgb(7, 8, 9)", "#counter", "border-top-color"],
    ["note.module.css", "rgb(40, 50, 60)", "#note", "color"],
  ])("of %s updates the page without a reload", async (file, color, selector, property) => {
    const page = await openHome();
    const newColor = "rgb(200, 100, 50)";
    const restore = edit(file, color, newColor);
    await expect.poll(() => colorOf(page, selector, property)).toBe(newColor);
    await expectStateKept(page);
    await waitForEdits();
    restore();
    await expect.poll(() => colorOf(page, selector, property)).toBe(color);
  });

  it("of a page's markup reloads the page", async () => {
    const page = await openHome();
    edit("pages.server.tsx", "Home page", "Another home");
    await page.locator("h1", { hasText: "Another home" }).waitFor();
    await page.locator("#counter[data-hydrated=true]").waitFor();
    expect(await isSamePage(page)).toBe(false);
  });

  it("of a server function reloads the page, and takes effect", async () => {
    const page = await openHome();
    edit("functions.server.ts", "Hello", "Good morning");
    await expect.poll(() => isSamePage(page).catch(() => true)).toBe(false); // the page cannot be evaluated while it reloads
    await page.locator("#counter[data-hydrated=true]").waitFor();
    await page.fill("#name", "Ada");
    await page.click("#greet");
    await page.locator("#greeting", { hasText: "Good morning Ada" }).waitFor();
  });

  it("that adds a server module takes effect without a restart", async () => {
    project.write(
      "src/more.server.tsx",
      'import { page } from "tsweb";\nexport const more = page("/more", () => <h1>One more page</h1>);\n',
    );
    edit("app.ts", "[pages, functions]", "[pages, functions, more]");
    edit("app.ts", "import * as pages", 'import * as more from "./more.server.tsx";\nimport * as pages');
    await expect.poll(async () => (await fetch(`${dev.address}/more`)).status).toBe(200);
    const page = await users.newPage();
    await page.goto("/more");
    expect(await page.textContent("h1")).toBe("One more page");
  });
});

describe("a page that is the response to a form", () => {
  afterEach(() => {
    users.problems.length = 0; // browsers report every response with 500
  });

  /** Adds a page whose form runs a function, and sends the form. */
  async function sendForm(body: string): Promise<Page> {
    project.write(
      "src/orders.server.tsx",
      'import { appendFileSync } from "node:fs";\nimport { form, page, server } from "tsweb";\n' +
        `export const order = server(() => {\n  appendFileSync("orders.txt", "x");\n  ${body}\n});\n` +
        'export const orders = page("/orders", () => (\n' +
        '  <form action={order}><p>{form(order).result ?? "none"}</p><button>Order</button></form>\n));\n',
    );
    restores.push(() => project.write("src/orders.server.tsx", "export {};\n"));
    project.write("orders.txt", "");
    edit("app.ts", "[pages, functions", "[orders, pages, functions");
    edit("app.ts", "import * as pages", 'import * as orders from "./orders.server.tsx";\nimport * as pages');
    await expect.poll(async () => (await fetch(`${dev.address}/orders`)).status).toBe(200);
    await waitForEdits();
    await receivePendingReload();
    const page = await users.newPage();
    await page.goto("/orders");
    await page.click("button");
    return page;
  }

  it("is reloaded with GET after an edit: the function runs once", async () => {
    const page = await sendForm('return "Ordered";');
    await page.locator("p", { hasText: "Ordered" }).waitFor();
    await page.evaluate(() => {
      location.hash = "here";
    });
    edit("orders.server.tsx", '"none"', '"nothing"');
    await page.locator("p", { hasText: "nothing" }).waitFor();
    expect(project.read("orders.txt")).toBe("x");
  });

  it("is reloaded with GET after the error of the function is fixed: the function runs once", async () => {
    const page = await sendForm('throw new Error("No stock");');
    await page.locator("h1", { hasText: "No stock" }).waitFor();
    edit("orders.server.tsx", '"none"', '"nothing"');
    await page.locator("p", { hasText: "nothing" }).waitFor();
    expect(project.read("orders.txt")).toBe("x");
  });

  it("is not reloaded because the function writes a file", async () => {
    const page = await sendForm('throw new Error("No stock");');
    await page.locator("h1", { hasText: "No stock" }).waitFor();
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));
    const polled = () => page.waitForResponse((response) => response.url().endsWith("/__web/dev/@tsweb/edits"));
    await polled();
    const { count } = await edits();
    project.write("orders.txt", "xy");
    for (let polls = 0; polls < 4; polls++) await polled();
    expect((await edits()).count).toBe(count);
    expect(await isSamePage(page)).toBe(true);
  });
});

describe("an error", () => {
  afterEach(() => {
    users.problems.length = 0; // browsers report every response with 500
  });

  it("in a page is shown with its location, and the page is reloaded when it is fixed", async () => {
    const page = await users.newPage();
    const output = recordOutput();
    expect((await page.goto("/broken?now"))?.status()).toBe(200);
    expect((await page.goto("/broken?now=1"))?.status()).toBe(500);
    expect(await page.textContent("h1")).toBe("Broken on purpose");
    const line = lineOf("pages.server.tsx", "Broken on purpose");
    const shown = await page.locator("main").innerText();
    expect(shown).toContain(`src/pages.server.tsx:${line}:`);
    expect(shown).toMatch(new RegExp(`> +${line} \\|   if \\(request\\.query\\.now\\) throw new Error`));
    expect(shown).toMatch(new RegExp(`at .*\\(src/pages\\.server\\.tsx:${line}:\\d+\\)`));
    expect(output()).toContain(`Error: Broken on purpose\nsrc/pages.server.tsx:${line}:`);
    expect(output()).not.toContain("    at ");

    edit("pages.server.tsx", 'throw new Error("Broken on purpose")', "return <h1>Fixed</h1>");
    await page.locator("h1", { hasText: "Fixed" }).waitFor();
  });

  it("is logged once while its page stays open", async () => {
    const page = await users.newPage();
    const output = recordOutput();
    await page.goto("/broken?now=1");
    await page.waitForResponse((response) => response.url().endsWith("/__web/dev/@tsweb/edits"));
    await page.waitForResponse((response) => response.url().endsWith("/__web/dev/@tsweb/edits"));
    expect(output().match(/The page \/broken failed/g)).toHaveLength(1);
  });

  it("in an open page replaces the page until it is fixed", async () => {
    const page = await openHome();
    const restore = edit("pages.server.tsx", "<h1>Home page</h1>", "<h1>{request.nothing.at.all}</h1>");
    await page.locator("h1", { hasText: "Cannot read properties of undefined" }).waitFor();
    expect(await page.locator("main").innerText()).toContain("src/pages.server.tsx:");
    restore();
    await page.locator("h1", { hasText: "Home page" }).waitFor();
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it.each([
    ["app.ts", 'title: "Site",', 'title: "Site" oops,', "app.ts"],
    ["pages.server.tsx", 'import "./pages.css";', 'import "./nowhere.ts";', "nowhere"],
    ["pages.server.tsx", 'import "./pages.css";', 'import "no-such-package";', "npm install no-such-package"],
    ["pages.server.tsx", "export const plain =", "export const plain = server(() => 1, 2, 3) ??", "pages.server.tsx"],
    ["functions.server.ts", "(name: string) =>", "(...name: string[]) =>", "rest"],
  ])(
    "in %s (%s → %s) is shown with its location, in the page and in the terminal, until it is fixed",
    async (...row) => {
      const [file, search, replacement, expected] = row;
      const page = await openHome();
      const output = recordOutput();
      const restore = edit(file, search, replacement);
      await page.locator("h2", { hasText: "Stack" }).waitFor();
      const shown = await page.locator("main").innerText();
      expect(shown).toContain(expected);
      expect(shown).toMatch(/src\/[\w.-]+:\d+:\d+/);
      expect(shown).toMatch(/\^/);
      expect(output()).toContain(expected);
      restore();
      await page.locator("#counter[data-hydrated=true]").waitFor();
    },
  );

  it("in the list of modules is shown until it is fixed", async () => {
    const page = await openHome();
    const restore = edit("app.ts", "[pages, functions]", "[pages]");
    await page.locator("h1", { hasText: "src/counter.tsx calls greet of src/functions.server.ts" }).waitFor();
    restore();
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it("about a missing file is fixed by creating the file", async () => {
    const page = await openHome();
    edit("pages.server.tsx", 'import "./pages.css";', 'import "./pages.css";\nimport "./late.ts";');
    await page.locator("h2", { hasText: "Stack" }).waitFor();
    project.write("src/late.ts", "export const late = true;\n");
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it("in browser code is shown in an overlay and in the terminal, until it is fixed", async () => {
    const page = await openHome();
    const output = recordOutput();
    const restore = edit("counter.tsx", "import { greet }", "import { greet, hidden }");
    const overlay = page.locator("vite-error-overlay");
    await overlay.waitFor();
    const shown = (await overlay.locator(".window").innerText()).replaceAll("\u00a0", " ");
    expect(shown).toContain("hidden");
    expect(shown).toMatch(/counter\.tsx:4:\d+/);
    expect(shown).toContain("^^^^^^");
    expect(output()).toContain("counter.tsx:4");
    restore();
    await overlay.waitFor({ state: "detached" });
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it("of the application in an edited view is shown in an overlay until it is fixed, and the state is kept", async () => {
    const page = await openHome();
    const thrown = 'if (typeof document === "undefined") throw new Error("Not on the server");\n';
    const restore = edit("counter.tsx", "export const Counter", `${thrown}export const Counter`);
    const overlay = page.locator("vite-error-overlay");
    await overlay.waitFor();
    expect(await overlay.locator(".message-body").innerText()).toBe("Error: Not on the server");
    expect(await overlay.locator(".file").innerText()).toBe("src/counter.tsx:7:44");
    restore();
    await overlay.waitFor({ state: "detached" });
    await expectStateKept(page);
  });

  it("of the application in a server module, after an edit of a view, replaces the page until it is fixed", async () => {
    const page = await openHome();
    const source = project.read("src/counter.tsx");
    const restore = edit("counter.tsx", source, source.replace("= view((", "= ((").replace(/\}\);\n$/, "});\n"));
    await page.locator("h2", { hasText: "Stack" }).waitFor();
    expect(await page.locator("main").innerText()).toContain("src/pages.server.tsx:");
    restore();
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it("in browser code is shown to a page that is opened later, which is reloaded when it is fixed", async () => {
    const restore = edit("counter.tsx", "import { greet }", "import { greet, hidden }");
    const page = await users.newPage();
    await page.goto("/");
    await page.locator("vite-error-overlay").waitFor();
    restore();
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it("of a view in the browser only is shown in an overlay, and does not affect other views", async () => {
    const page = await users.newPage();
    const output = recordOutput();
    const restore = edit(
      "counter.tsx",
      "  const own =",
      '  if (typeof document === "object") throw new Error("Only here");\n  const own =',
    );
    await page.goto("/");
    const overlay = page.locator("vite-error-overlay");
    await overlay.waitFor();
    const shown = await overlay.locator(".window").innerText();
    const location = `src/counter.tsx:${lineOf("counter.tsx", "Only here")}:43`;
    for (const text of ["Cannot start view Counter", "Error: Only here", location]) expect(shown).toContain(text);
    expect(output()).toContain(`Error: Only here\n${location}\n`);
    await page.keyboard.press("Escape");
    await overlay.waitFor({ state: "detached" });
    await expect
      .poll(async () => {
        await page.click("#note"); // before hydration, the click has no effect
        return page.textContent("#note");
      })
      .toBe("Open");
    restore();
    await page.locator("#counter[data-hydrated=true]").waitFor();
  });

  it.each([
    ["a component", "badge.tsx", "  return", '  if (text) throw new Error("Broken");\n  return', true],
    ["a new component", "counter.tsx", '<Badge text="Badge" />', '<Badge text="New" /><Badge text="Badge" />', false],
  ])("of %s inside a view in an open page is fixed by an edit", async (...row) => {
    const [, file, search, replacement, keepsState] = row;
    edit("badge.tsx", "  return", '  if (text === "New") throw new Error("Broken");\n  return');
    await waitForEdits();
    const page = await openHome();
    const restore = edit(file, search, replacement);
    const overlay = page.locator("vite-error-overlay");
    await overlay.waitFor();
    restore();
    await overlay.waitFor({ state: "detached" });
    await page.locator("#counter[data-hydrated=true]").waitFor();
    await expect.poll(() => isSamePage(page).catch(() => !keepsState)).toBe(keepsState); // fails while the page reloads
    const count = Number(await page.textContent("#count"));
    expect(count).toBe(keepsState ? 4 : 3);
    await page.click("#more");
    expect(await page.textContent("#count")).toBe(String(count + 1));
    expect(await page.locator("#counter > *").count()).toBe(7);
  });

  it("in an event handler closes its overlay when it is fixed, and keeps the state", async () => {
    const page = await openHome();
    const restore = edit("counter.tsx", "() => own.count++", '() => {\n  throw new Error("A click");\n}');
    const overlay = page.locator("vite-error-overlay");
    await expect
      .poll(async () => {
        await page.locator("#more").dispatchEvent("click"); // also below the overlay
        return overlay.count();
      })
      .toBe(1);
    expect(await overlay.locator(".file").innerText()).toBe(`src/counter.tsx:${lineOf("counter.tsx", "A click")}:9`);
    restore();
    await overlay.waitFor({ state: "detached" });
    expect(await isSamePage(page)).toBe(true);
    expect(await page.inputValue("#name")).toBe("Ada");
  });
});

function lineOf(file: string, text: string): number {
  return (
    project
      .read(`src/${file}`)
      .split("\n")
      .findIndex((line) => line.includes(text)) + 1
  );
}

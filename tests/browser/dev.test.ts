/**
 * The development server in a real browser: what an edit does to the screen, and how mistakes are shown.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { sendRequest } from "#test/raw-http";
import { type Running, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";

let project: TestProject;
let dev: Running;
let browser: Browser;
let users: BrowserUsers;

beforeAll(async () => {
  project = TestProject.copy();
  dev = await startDev(project.dir);
  browser = await launch();
  users = new BrowserUsers(browser, { baseURL: dev.address });
});

const mends: (() => void)[] = [];

afterEach(async () => {
  await users.closeAll();
  await mendAll();
  expect(users.problems.splice(0)).toEqual([]);
});

/** What the server tells of edits: their number, and whether the last has taken effect. */
async function edits(): Promise<{ readonly count: number; readonly isSettled: boolean }> {
  const text = await (await fetch(`${dev.address}/@tsweb/edits`)).text();
  return { count: Number.parseInt(text, 10), isSettled: !text.endsWith("+") };
}

/** Waits until the server has taken note of all edits: of two in one moment it may see but one. */
async function settled(): Promise<void> {
  await expect.poll(async () => (await edits()).isSettled).toBe(true);
}

/** Puts all files back, and waits until the server has taken note: else it would reload the next test's page. */
async function mendAll(): Promise<void> {
  const begun = mends.splice(0).reverse();
  if (begun.length === 0) return;
  await settled();
  const { count } = await edits();
  for (const mend of begun) mend();
  await expect.poll(async () => (await edits()).count).toBeGreaterThan(count);
  await settled();
  await takeWhatIsKept();
}

/** Comes and goes: of an edit that nobody saw, the build tool has the next page that comes reload. */
async function takeWhatIsKept(): Promise<void> {
  const page = await users.newPage();
  const told = new Promise((resolve) => {
    page.on("websocket", (socket) => socket.once("framereceived", resolve));
  });
  await page.goto("/plain");
  await Promise.race([told, page.waitForTimeout(5_000)]); // a page that shows an error is told nothing
  await users.closeAll();
}

afterAll(async () => {
  await browser?.close();
  const code = await dev?.stop();
  project?.remove();
  expect(code).toBe(0);
});

/** Edits a file for the length of a test. */
function edit(file: string, part: string, other: string): () => void {
  const mend = project.edit(`src/${file}`, part, other);
  mends.push(mend);
  return mend;
}

/** Opens the home page, waits until it is alive, and gives its view a state to lose. */
async function openHome(): Promise<Page> {
  const page = await users.newPage();
  await page.goto("/");
  await page.locator("#counter[data-alive=true]").waitFor();
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

/** Text in what the server has written since a moment. */
function terminal(): () => string {
  const { length } = dev.output();
  return () => dev.output().slice(length).replace(ANSI, "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours a terminal
const ANSI = /\u001b\[[0-9;]*m/g;

describe("the first page", () => {
  it("comes alive, with its styles and pictures", async () => {
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

  it("has the build tool's script and no other, where it has no view", async () => {
    const page = await users.newPage();
    await page.goto("/plain");
    const scripts = await page.locator("script").evaluateAll((all) => all.map((each) => each.getAttribute("src")));
    expect(scripts).toEqual(["/@vite/client"]);
  });
});

describe("an edit", () => {
  it.each([5, 15, 30, 45])("that is written in two steps, %i ms apart, is seen whole", async (apart) => {
    const text = project.read("src/functions.server.ts");
    project.write("src/functions.server.ts", ""); // as a writer does that was held up after emptying the file
    await new Promise((resolve) => setTimeout(resolve, apart));
    project.write("src/functions.server.ts", text);
    await settled();
    await openHome();
  });

  it("of a view changes the screen and keeps its state", async () => {
    const page = await openHome();
    edit("counter.tsx", "More\n", "Still more\n");
    await page.locator("#more", { hasText: "Still more" }).waitFor();
    await expectStateKept(page);
    await page.click("#more");
    expect(await page.textContent("#count")).toBe("5");
  });

  it("of a component inside a view does too", async () => {
    const page = await openHome();
    edit("badge.tsx", "{text}", "{text} of honour");
    await page.locator("#badge", { hasText: "Badge of honour" }).waitFor();
    await expectStateKept(page);
  });

  it("of a view that is a default export does too", async () => {
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
  ])("of %s changes the screen without a reload", async (file, color, selector, property) => {
    const page = await openHome();
    const other = "rgb(200, 100, 50)";
    const mend = edit(file, color, other);
    await expect.poll(() => colorOf(page, selector, property)).toBe(other);
    await expectStateKept(page);
    await settled();
    mend();
    await expect.poll(() => colorOf(page, selector, property)).toBe(color);
  });

  it("of a page's markup reloads the page", async () => {
    const page = await openHome();
    edit("pages.server.tsx", "Home page", "Another home");
    await page.locator("h1", { hasText: "Another home" }).waitFor();
    await page.locator("#counter[data-alive=true]").waitFor();
    expect(await isSamePage(page)).toBe(false);
  });

  it("of a server function reloads the page, and the new one answers", async () => {
    const page = await openHome();
    edit("functions.server.ts", "Hello", "Good morning");
    await expect.poll(() => isSamePage(page).catch(() => true)).toBe(false); // asked while it reloads: not yet
    await page.locator("#counter[data-alive=true]").waitFor();
    await page.fill("#name", "Ada");
    await page.click("#greet");
    await page.locator("#greeting", { hasText: "Good morning Ada" }).waitFor();
  });

  it("that adds a server module to the application needs no restart", async () => {
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

describe("a mistake", () => {
  afterEach(() => {
    users.problems.length = 0; // browsers complain of each answer with 500
  });

  it("in a page is shown with its place, and reloads once it is mended", async () => {
    const page = await users.newPage();
    const written = terminal();
    expect((await page.goto("/broken?now"))?.status()).toBe(200);
    expect((await page.goto("/broken?now=1"))?.status()).toBe(500);
    expect(await page.textContent("h1")).toBe("Broken on purpose");
    const line = lineOf("pages.server.tsx", "Broken on purpose");
    const shown = await page.locator("main").innerText();
    expect(shown).toContain(`src/pages.server.tsx:${line}:`);
    expect(shown).toMatch(new RegExp(`> +${line} \\|   if \\(request\\.query\\.now\\) throw new Error`));
    expect(shown).toMatch(new RegExp(`at .*\\(src/pages\\.server\\.tsx:${line}:\\d+\\)`));
    expect(written()).toContain(`${project.file("src/pages.server.tsx")}:${line}:`);

    edit("pages.server.tsx", 'throw new Error("Broken on purpose")', "return <h1>Mended</h1>");
    await page.locator("h1", { hasText: "Mended" }).waitFor();
  });

  it("is logged once, however long its page stays open", async () => {
    const page = await users.newPage();
    const written = terminal();
    await page.goto("/broken?now=1");
    await page.waitForResponse((response) => response.url().endsWith("/@tsweb/edits"));
    await page.waitForResponse((response) => response.url().endsWith("/@tsweb/edits"));
    expect(written().match(/The page \/broken failed/g)).toHaveLength(1);
  });

  it("in a page that was fine takes the place of the page, and gives it back", async () => {
    const page = await openHome();
    const mend = edit("pages.server.tsx", "<h1>Home page</h1>", "<h1>{request.nothing.at.all}</h1>");
    await page.locator("h1", { hasText: "Cannot read properties of undefined" }).waitFor();
    expect(await page.locator("main").innerText()).toContain("src/pages.server.tsx:");
    mend();
    await page.locator("h1", { hasText: "Home page" }).waitFor();
    await page.locator("#counter[data-alive=true]").waitFor();
  });

  it.each([
    ["app.ts", 'title: "Site",', 'title: "Site" oops,', "app.ts"],
    ["pages.server.tsx", 'import "./pages.css";', 'import "./nowhere.ts";', "nowhere"],
    ["pages.server.tsx", 'import "./pages.css";', 'import "no-such-package";', "npm install no-such-package"],
    ["pages.server.tsx", "export const plain =", "export const plain = server(() => 1, 2, 3) ??", "pages.server.tsx"],
    ["functions.server.ts", "(name: string) =>", "(...name: string[]) =>", "rest"],
  ])("in %s (%s → %s) is shown with its place, here and in the terminal, until it is mended", async (...row) => {
    const [file, part, other, word] = row;
    const page = await openHome();
    const written = terminal();
    const mend = edit(file, part, other);
    await page.locator("h2", { hasText: "Stack" }).waitFor();
    const shown = await page.locator("main").innerText();
    expect(shown).toContain(word);
    expect(shown).toMatch(/src\/[\w.-]+:\d+:\d+/);
    expect(shown).toMatch(/\^/);
    expect(written()).toContain(word);
    mend();
    await page.locator("#counter[data-alive=true]").waitFor();
  });

  it("in the list of modules is shown until it is mended", async () => {
    const page = await openHome();
    const mend = edit("app.ts", "[pages, functions]", "[pages]");
    await page.locator("h1", { hasText: "src/counter.tsx calls greet of src/functions.server.ts" }).waitFor();
    mend();
    await page.locator("#counter[data-alive=true]").waitFor();
  });

  it("that a new file mends is mended by it", async () => {
    const page = await openHome();
    edit("pages.server.tsx", 'import "./pages.css";', 'import "./pages.css";\nimport "./late.ts";');
    await page.locator("h2", { hasText: "Stack" }).waitFor();
    project.write("src/late.ts", "export const late = true;\n");
    await page.locator("#counter[data-alive=true]").waitFor();
  });

  it("in browser code is shown over the page, and in the terminal, until it is mended", async () => {
    const page = await openHome();
    const written = terminal();
    const mend = edit("counter.tsx", "import { greet }", "import { greet, hidden }");
    const overlay = page.locator("vite-error-overlay");
    await overlay.waitFor();
    const shown = (await overlay.locator(".window").innerText()).replaceAll("\u00a0", " ");
    expect(shown).toContain("hidden");
    expect(shown).toMatch(/counter\.tsx:4:\d+/);
    expect(shown).toContain("^^^^^^");
    expect(written()).toContain("counter.tsx:4");
    mend();
    await overlay.waitFor({ state: "detached" });
    await page.locator("#counter[data-alive=true]").waitFor();
  });

  it("in browser code is shown to who comes later too, and mended without them", async () => {
    const mend = edit("counter.tsx", "import { greet }", "import { greet, hidden }");
    const page = await users.newPage();
    await page.goto("/");
    await page.locator("vite-error-overlay").waitFor();
    mend();
    await page.locator("#counter[data-alive=true]").waitFor();
  });

  it("that a view makes in the browser alone is reported by name, and keeps no other view from living", async () => {
    const page = await users.newPage();
    const mend = edit(
      "counter.tsx",
      "  const own =",
      '  if (typeof document === "object") throw new Error("Only here");\n  const own =',
    );
    await page.goto("/");
    await expect.poll(() => users.problems.join("\n")).toContain("Cannot start view Counter");
    await expect
      .poll(async () => {
        await page.click("#note"); // until it lives, nothing happens
        return page.textContent("#note");
      })
      .toBe("Open");
    mend();
    await page.locator("#counter[data-alive=true]").waitFor();
  });
});

describe("who asks", () => {
  it.each(["localhost", "localhost:1", "127.0.0.1", "127.8.9.1:80", "[::1]:3000", "shop.localhost"])(
    "for %s is answered",
    async (host) => {
      expect((await sendRequest(dev.address, "GET /plain HTTP/1.1", `Host: ${host}`)).status).toBe(200);
    },
  );

  it.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "192.168.1.2",
    "0.0.0.0",
    "notlocalhost",
    "[::2]",
    "",
    "localhost@evil.example",
  ])("for %j is refused, pages and modules alike", async (host) => {
    for (const path of ["/plain", "/src/counter.tsx", "/@vite/client", "/@tsweb/edits", "/robots.txt"]) {
      expect((await sendRequest(dev.address, `GET ${path} HTTP/1.1`, `Host: ${host}`)).status).toBe(403);
    }
  });

  it.each([
    "/src/functions.server.ts",
    "/src/functions.server.ts?raw",
    "/src/functions.server.ts?import&url",
    "/src/functions%2Eserver.ts",
    "/%73rc/functions.server.ts",
    "/src%2ffunctions.server.ts",
    "/src/./functions.server.ts",
    "/src/x/../functions.server.ts",
    "/SRC/../src/functions.server.ts?v=1",
    "//src/functions.server.ts",
    "/@fs/ROOT/src/functions.server.ts?raw",
    "/@id/ROOT/src/functions.server.ts",
    "/src/functions.server",
    "/src/functions.server.ts%00",
    "/src/functions.server.ts.map",
    "/src\\functions.server.ts",
  ])("for a server module by %s gets nothing of it", async (path) => {
    const { status, body } = await sendRequest(
      dev.address,
      `GET ${path.replace("/ROOT", project.dir)} HTTP/1.1`,
      "Host: localhost",
    );
    expect([400, 404]).toContain(status);
    expect(body).not.toContain("Says by one file");
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

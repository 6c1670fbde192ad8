/**
 * Tailwind, MDX, CSS modules, PostCSS and packages of a workspace in Chromium, as docs/vite.md describes them: built, with edits in
 * development, and in `npm run matrix -- libraries` also all of it in development. Also whether a page whose
 * policy forbids scripts waits for a server that restarts.
 */
import { execFileSync } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { repository } from "#test/copy-example";
import { installPackages, VITE_PLUGINS_DIR } from "#test/host-packages";
import { IS_MATRIX } from "#test/matrix";
import { build, type RunningServer, startBuilt, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";
import { FILES, LINKED_FILES, LINKED_PAGE, OUTSIDE_FILES, WORD_FILES, WORD_PAGES } from "./vite-plugins-files.ts";

let project: TestProject;
let packages: TestProject;
let outside: TestProject;
let browser: Browser;
let users: BrowserUsers;
const servers: Partial<Record<"built" | "dev", RunningServer>> = {};

beforeAll(async () => {
  await installPackages(VITE_PLUGINS_DIR);
  project = TestProject.fromFiles({ ...FILES, ...WORD_FILES });
  project.linkPackages(VITE_PLUGINS_DIR);
  project.linkPackages(repository, ["vite"]); // npm installs it with tsweb
  packages = TestProject.fromFiles(LINKED_FILES);
  rmSync(packages.file("node_modules/tsweb")); // only the application has it
  symlinkSync(packages.file("ui"), packages.file("node_modules/ui"), "dir");
  for (const name of ["ui", "greeting"]) symlinkSync(packages.file(name), project.file(`node_modules/${name}`), "dir");
  project.write("src/linked.server.tsx", LINKED_PAGE);
  outside = TestProject.fromFiles(OUTSIDE_FILES);
  symlinkSync(outside.dir, project.file("node_modules/outside"), "dir");
  await build(project.dir);
  [servers.built, servers.dev, browser] = await Promise.all([
    startBuilt(project.dir, { WEB_ENV: "development" }),
    startDev(project.dir),
    launch({ fullBrowser: false }),
  ]);
  users = new BrowserUsers(browser, {});
});

afterEach(async () => {
  await users.closeAll();
  expect(users.problems.splice(0)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  const codes = await Promise.all(Object.values(servers).map((server) => server.stop()));
  project?.remove();
  packages?.remove();
  outside?.remove();
  expect(codes).toEqual([0, 0]);
});

/** Opens a page, and waits until its view is hydrated. */
async function open(kind: "built" | "dev", path = "/"): Promise<Page> {
  const page = await users.reusePage();
  await page.goto(`${servers[kind]?.address}${path}`);
  await expect
    .poll(async () => {
      await page.locator("button").click();
      return Number(await page.locator("button").textContent());
    })
    .toBeGreaterThan(0);
  return page;
}

const styleOf = (page: Page, selector: string, property: "color" | "paddingTop" | "paddingLeft" | "fontWeight") =>
  page.locator(selector).evaluate((element, name) => getComputedStyle(element)[name], property);

describe.each(IS_MATRIX ? (["built", "dev"] as const) : (["built"] as const))("an application that is %s", (kind) => {
  it("has the styles of Tailwind, of CSS modules and of PostCSS, on the server and in views, beside a document of MDX", async () => {
    const page = await open(kind);
    expect({
      tailwind: [await styleOf(page, "#page", "paddingTop"), await styleOf(page, "#card", "paddingLeft")],
      modules: [await styleOf(page, "#module", "color"), await styleOf(page, "#card", "color")],
      postcss: await styleOf(page, "#accent", "color"),
    }).toEqual({
      tailwind: ["13px", "17px"],
      modules: ["rgb(4, 5, 6)", "rgb(7, 8, 9)"],
      postcss: "rgb(1, 2, 3)",
    });
    expect(await page.locator("#card h2").textContent()).toBe("A note"); // a document of MDX in a view
  });

  it("has the style sheets of import(): at once those of pages and of imported modules, and in views when it runs", async () => {
    const page = await open(kind, "/late");
    const colors = async () => [
      await styleOf(page, "#page", "color"),
      await styleOf(page, "#part", "color"),
      await styleOf(page, "#late", "color"),
    ];
    expect(await colors()).toEqual(["rgb(9, 9, 1)", "rgb(9, 9, 2)", "rgb(9, 9, 1)"]);
    await page.locator("a").click();
    await expect.poll(() => page.locator("#chart").textContent()).toBe("Chart");
    expect(await colors()).toEqual(["rgb(9, 9, 1)", "rgb(9, 9, 2)", "rgb(9, 9, 3)"]);
    expect(await styleOf(page, "#chart", "color")).toBe("rgb(9, 9, 4)");
  });

  it("has the documents of MDX in pages and in views", async () => {
    const html = await (await fetch(servers[kind]?.address ?? "")).text();
    expect(html).toMatch(/<h1>About tsweb<\/h1>\s*<p>Written in <strong>MDX<\/strong>\.<\/p>/);
    expect(html).toMatch(/<h2>A note<\/h2>\s*<p>In a <em>view<\/em>\.<\/p>/);
  });
});

describe("the content security policy", () => {
  it.each(["built", "dev"] as const)(
    "blocks style attributes and elements, images, workers and eval, %s [DEV-21]",
    async (kind) => {
      const page = await users.newPage();
      await page.addInitScript(() => {
        const found: string[] = [];
        Object.assign(window, { violations: found });
        addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
          found.push(`${effectiveDirective} ${blockedURI.replace(/^blob:.*/, "blob")}`);
        });
      });
      await page.goto(`${servers[kind]?.address}/blocked`);
      await expect.poll(() => page.locator("#result").textContent()).toBe("blocked");
      await expect
        .poll(() => page.evaluate<string[]>("[...new Set(violations)].sort()"))
        .toEqual([
          "img-src http://127.0.0.1:9/photo.png",
          "script-src eval",
          "style-src-attr inline",
          "style-src-elem inline",
          "worker-src blob",
        ]);
      expect(await styleOf(page, "#red", "color")).toBe("rgb(0, 0, 0)");
      users.problems.splice(0); // the browser reports each violation
    },
  );
});

describe("a package of a workspace, outside of the application's folder", () => {
  it.each(["built", "dev"] as const)("has its views, style sheets, images and server functions, %s", async (kind) => {
    const page = await open(kind, "/linked");
    expect(await page.locator("h1").textContent()).toBe("Hello Ada!");
    expect(await styleOf(page, "#panel", "color")).toBe("rgb(8, 8, 1)");
    expect(await styleOf(page, "#panel", "paddingTop")).toBe("23px");
    expect(await page.locator("img").evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(9);
    await page.locator("a").click();
    await expect.poll(() => page.locator("#saved").textContent()).toBe("saved Label");
  });

  it("is served in development only as far as browser modules refer to it", async () => {
    await open("dev", "/linked");
    const statusOf = async (file: string) =>
      (await fetch(`${servers.dev?.address}/__web/dev/@fs${packages.file(file)}`)).status;
    expect(await Promise.all(["ui/panel.tsx", "ui/label.ts", "ui/own.css", "ui/logo.svg"].map(statusOf))).toEqual(
      Array<number>(4).fill(200),
    );
    const refused = [
      "ui/unused.ts",
      "ui/actions.server.ts",
      "ui/panel.tsx?raw",
      "ui/package.json",
      "greeting/index.js",
    ];
    expect(await Promise.all(refused.map(statusOf))).toEqual(refused.map(() => 404));
  });

  it("is updated in development, and keeps the state of its views", async () => {
    const page = await open("dev", "/linked");
    const count = await page.locator("button").textContent();
    packages.edit("ui/label.ts", "Label", "Edited label");
    await expect.poll(() => page.locator("#label").textContent()).toBe("Edited label");
    packages.edit("ui/own.css", "8, 8, 1", "8, 8, 2");
    await expect.poll(() => styleOf(page, "#panel", "color")).toBe("rgb(8, 8, 2)");
    expect(await page.locator("button").textContent()).toBe(count);
    packages.edit("greeting/word.js", "Hello", "Welcome");
    await expect.poll(() => page.locator("h1").textContent()).toBe("Welcome Ada!");
  });
});

describe("a package that a view imports", () => {
  /** Opens a page whose policy forbids scripts, and waits until the script of the build tool is connected. */
  async function openWithoutScripts(): Promise<Page> {
    const page = await users.newPage();
    const connected = new Promise((resolve) => {
      page.on("websocket", (socket) => socket.once("framereceived", resolve));
    });
    await page.goto(`${servers.dev?.address}/plain`);
    await connected; // a page that has never been connected does not wait for the server
    return page;
  }

  /** Waits until such a page has been reloaded after a restart, which its policy allows. */
  async function expectReloaded(page: Page): Promise<void> {
    await expect.poll(() => page.locator("h1").textContent()).toBe("Restarted");
    const problems = users.problems.splice(0); // the browser reports that the server did not respond
    expect(problems.filter((problem) => problem.includes("Content Security Policy"))).toEqual([]);
  }

  /** Types a text in the first page, opens all others, and returns what they and the first page contain then. */
  async function visitAll(): Promise<{ words: (string | null)[]; typed: string; bundledLate: boolean }> {
    const [first, other] = [await users.reusePage(), await users.reusePage()];
    const address = servers.dev?.address ?? "";
    await first.goto(`${address}/first`, { waitUntil: "networkidle" });
    await first.fill("input", "typed");
    const words: (string | null)[] = [];
    for (const name of WORD_PAGES.slice(1)) {
      await other.goto(`${address}/${name}`, { waitUntil: "networkidle" });
      words.push(await other.locator("button").textContent());
    }
    const chart = other.waitForResponse(/chart-words/);
    await other.click("button");
    await chart;
    await other.waitForTimeout(500); // Vite bundles new packages after 100 ms, and logs them after 200 ms
    const bundledLate = /dependenc(?:y|ies) optimized|reloading/.test(servers.dev?.output() ?? "");
    return { words, typed: await first.inputValue("input"), bundledLate };
  }

  it("is bundled at the start, so that the first visit of another page does not reload pages", async () => {
    const words = ["beside", "outside", "names", "lazy"];
    expect(await visitAll()).toEqual({ words, typed: "typed", bundledLate: false });
  });

  it("is bundled at the next start if its import was added meanwhile, also beside a view with a syntax error; open pages wait for it", async () => {
    const waiting = await openWithoutScripts();
    const { port = "" } = new URL(servers.dev?.address ?? "");
    expect(await servers.dev?.stop()).toBe(0);
    project.edit("src/policy.server.tsx", "Plain", "Restarted");
    project.edit("views/beside.tsx", "beside-words", "added-words");
    const restore = project.edit("views/broken.tsx", "import", "const = 1;\nimport");
    onTestFinished(restore);
    servers.dev = await startDev(project.dir, { PORT: port });
    await expectReloaded(waiting);
    const words = ["added", "outside", "names", "lazy"];
    expect(await visitAll()).toEqual({ words, typed: "typed", bundledLate: false });
    expect(servers.dev.output()).not.toContain("Failed to run dependency scan");
  });
});

it("in development, a page gets edits of MDX, new classes of Tailwind and new variables of PostCSS", async () => {
  const page = await open("dev");
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  for (const suffix of ["", "-wal"]) project.write(`shop.db${suffix}`, "A row"); // no edit: Tailwind depends on all files
  project.edit("src/note.mdx", "A note", "An edited note");
  await expect.poll(() => page.locator("#card h2").textContent()).toBe("An edited note");
  expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);
  project.edit("src/about.mdx", "About", "More about");
  await expect.poll(() => page.locator("h1").textContent()).toBe("More about tsweb");
  project.edit("src/pages.server.tsx", "pt-[13px]", "pt-[19px]");
  await expect.poll(() => styleOf(page, "#page", "paddingTop")).toBe("19px");
  project.edit("src/variables.css", "1, 2, 3", "10, 20, 30");
  await expect.poll(() => styleOf(page, "#accent", "color")).toBe("rgb(10, 20, 30)");
});

it("the types of docs/vite.md accept documents of MDX", () => {
  symlinkSync(repository, packages.file("node_modules/tsweb"), "dir"); // TypeScript looks only above the package
  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  expect(execFileSync(process.execPath, [tsc, "--types", ""], { cwd: project.dir, encoding: "utf8" })).toBe("");
});

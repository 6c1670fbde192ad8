/**
 * The first steps of a new user: install the package into an empty folder, copy the README's first application,
 * type-check it, build it, serve it, and edit it.
 */
import { randomBytes } from "node:crypto";
import { renameSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningServer, startNode } from "#test/run-tsweb";
import { launch } from "../browser/chromium.ts";
import {
  createEmptyFolder,
  createInstalledProject,
  createProject,
  nodeModulesAbove,
  type PackedPackage,
  type Project,
} from "./fresh-project.ts";
import { type GuestBookPage, openGuestBook, signAs, submitEmptyName } from "./guest-book-page.ts";
import { installedPackages } from "./installed-packages.ts";
import { filesInComments, filesInMarkdown, readme } from "./readme.ts";

const folder = createEmptyFolder();
const files = filesInMarkdown(readme);
let packed: PackedPackage;
let guestBook: Project;
let browser: Browser;

beforeAll(async () => {
  [{ project: guestBook, packed }, browser] = await Promise.all([createInstalledProject(folder.dir, files), launch()]);
});

afterAll(async () => {
  await browser?.close();
  folder.remove();
});

/** Returns the words of a command with the path of its program, as npx finds it. Fails when the README does not show the command. */
function readmeCommand(command: string): string[] {
  expect(readme).toMatch(new RegExp(`^${command}( |$)`, "m"));
  const [npx, program = "", ...args] = command.split(" ");
  expect(npx).toBe("npx");
  return [join("node_modules", ".bin", program), ...args];
}

describe("the package", () => {
  it("contains code, types and documentation, and no tests", () => {
    const entries = new Set(packed.contents.map((path) => path.split("/")[0]));
    expect([...entries].sort()).toEqual(["LICENSE", "README.md", "bin", "dist", "docs", "package.json"]);
    expect(packed.contents.filter((path) => /\.test\b|fixture|\.map$|(?<!\.d)\.ts$/.test(path))).toEqual([]);
    expect(packed.contents).toContain("bin/tsweb.js");
  });

  it("installs without problems, with at most 12 direct dependencies", async () => {
    const tree = JSON.parse(await guestBook.run("npm", "ls", "--json", "--all"));
    expect(tree.problems).toBeUndefined();
    const listed: Record<string, { version?: string }> = tree.dependencies.tsweb.dependencies;
    // npm also lists optional peer dependencies, without a version when they are not installed.
    const direct = Object.values(listed).filter(({ version }) => version !== undefined);
    expect(direct.length).toBeGreaterThan(0);
    expect(direct.length).toBeLessThanOrEqual(12);
  });
});

describe("an installation of the package", () => {
  // npm installs the newest versions that package.json allows: if one of these has grown, raise the limit in a commit of its own.
  const MAX_PACKAGES = 27;
  const MAX_MEGABYTES = 45;
  const MAX_OWN_MEGABYTES = 6.3;

  it("has a limited number of packages and bytes, without development dependencies", () => {
    const installed = installedPackages(guestBook.dir);
    const list = installed.map(({ name, bytes }) => `${(bytes / 1e6).toFixed(1)} MB ${name}`).join("\n");
    const megabytes = installed.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
    expect(installed.map(({ name }) => name)).toContain("vite");
    expect(installed.length, list).toBeLessThanOrEqual(MAX_PACKAGES);
    expect(megabytes, list).toBeLessThan(MAX_MEGABYTES);
    const own = installed.find(({ name }) => name === "tsweb")?.bytes ?? Number.NaN;
    expect(own / 1e6, "MB of tsweb itself").toBeLessThan(MAX_OWN_MEGABYTES);
  });
});

describe("the example at the top of the README", () => {
  const example = filesInComments(readme);
  const app = `import { App } from "tsweb";
import * as chat from "./chat.server.ts";
import * as pages from "./pages.server.tsx";

export default new App({ modules: [chat, pages] });
`;
  let chat: Project;

  beforeAll(() => {
    const sources = [...example, ["app.ts", app] as const].map(([name, text]) => [`src/${name}`, text] as const);
    const config = ["package.json", "tsconfig.json"].map((name) => [name, files.get(name) ?? ""] as const);
    // Below the guest book, so that it finds the packages that are installed there.
    chat = createProject(join(guestBook.dir, "chat"), new Map([...config, ...sources]));
  });

  it("has the three files of an application, in at most 20 lines of code", () => {
    expect([...example.keys()]).toEqual(["chat.server.ts", "chat.tsx", "pages.server.tsx"]);
    const lines = [...example.values()].flatMap((text) => text.split("\n")).filter((line) => line.trim() !== "");
    expect(lines.length).toBeLessThanOrEqual(20);
  });

  it("type-checks, and sends a message from one page to another", async () => {
    // The guest book checks the types of the package, and runs the commands as the README shows them.
    await chat.run("../node_modules/.bin/tsc", "--skipLibCheck");
    await chat.run("../node_modules/.bin/tsweb", "build");
    const running = await startNode(chat.dir, ["dist/server.mjs"], { WEB_ENV: "development" });
    const contexts = await Promise.all([browser.newContext(), browser.newContext()]);
    try {
      const pages = await Promise.all(contexts.map((context) => context.newPage()));
      // The event stream is requested after hydration: then clicks have an effect.
      const streams = pages.map((page) => page.waitForResponse((response) => response.url().includes("/__web/live")));
      await Promise.all(pages.map((page) => page.goto(running.address)));
      await Promise.all(streams);
      for (const page of pages) expect(await page.getByRole("button").textContent()).toBe("Say hello (0)");
      await pages[0]?.getByRole("button").click();
      for (const page of pages) await page.getByText("Say hello (1)").waitFor();
    } finally {
      await Promise.all(contexts.map((context) => context.close()));
      expect(await running.stop()).toBe(0);
    }
  });
});

describe("the first application", () => {
  it("is complete in the README", () => {
    expect([...files.keys()]).toEqual([
      "package.json",
      "tsconfig.json",
      "src/guests.server.ts",
      "src/guest-book.tsx",
      "src/pages.server.tsx",
      "src/app.ts",
    ]);
  });

  it("passes the type check, which includes the types of the package and rejects a wrong argument", async () => {
    const [command = "", ...args] = readmeCommand("npx tsc");
    const wrong = 'import { sign } from "./guests.server.ts";\nexport const wrong = sign(1);\n';
    guestBook.write("src/wrong.ts", wrong);
    const output = await guestBook.run(command, ...args).catch(String);
    expect(output.match(/^.*: error TS.*$/gm)).toEqual([
      "src/wrong.ts(2,27): error TS2345: Argument of type 'number' is not assignable to parameter of type 'string'.",
    ]);
    await guestBook.run("rm", "src/wrong.ts");
  });
});

describe("the built application, in a folder without packages", () => {
  const target = createEmptyFolder();
  let running: RunningServer;

  beforeAll(async () => {
    const [command = "", ...args] = readmeCommand("npx tsweb build");
    await guestBook.run(command, ...args);
    renameSync(join(guestBook.dir, "dist"), join(target.dir, "dist"));
    expect(nodeModulesAbove(join(target.dir, "dist"))).toEqual([]);
    running = await startNode(target.dir, ["dist/server.mjs"], {
      WEB_ENV: "production",
      WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
    });
  });

  afterAll(async () => {
    const code = await running?.stop();
    target.remove();
    expect(code).toBe(0);
  });

  const sign = async (args: object) => {
    const response = await fetch(`${running.address}/__web/rpc/sign`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ args }),
    });
    return { status: response.status, body: await response.json() };
  };

  it("responds to calls, and returns the error that the function throws", async () => {
    expect(await sign({ name: "  Ada  Lovelace " })).toEqual({ status: 200, body: { result: ["Ada Lovelace"] } });
    expect(await sign({ name: "" })).toEqual({
      status: 422,
      body: { error: { code: "validation_error", message: expect.stringContaining("your name"), details: {} } },
    });
  });

  it("shows the result of a call on its page", async () => {
    const response = await fetch(running.address);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("<li>Ada Lovelace</li>");
  });

  it("hydrates in the browser", async () => {
    const { page, problems, preactScripts, close } = await openGuestBook(browser, running.address);
    await signAs(page, "Grace <Hopper>");
    expect(await page.locator("li").allTextContents()).toEqual(["Grace <Hopper>", "Ada Lovelace"]);
    expect(await page.getByLabel("Your name").inputValue()).toBe("");
    expect(await submitEmptyName(page)).toBe("Please write your name, in 80 letters at most.");
    expect(await preactScripts()).toHaveLength(1);
    expect(problems).toEqual([]);
    await close();
  });
});

describe("the application in development", () => {
  let running: RunningServer;
  let guestBookPage: GuestBookPage;

  beforeAll(async () => {
    running = await startNode(guestBook.dir, readmeCommand("npx tsweb dev"));
    guestBookPage = await openGuestBook(browser, running.address);
  });

  afterAll(async () => {
    await guestBookPage?.close();
    expect(await running?.stop()).toBe(0);
  });

  it("hydrates at the first request, without a reload and with one copy of Preact", async () => {
    const { page } = guestBookPage;
    await signAs(page, "Ada Lovelace");
    expect(await submitEmptyName(page)).toBe("Please write your name, in 80 letters at most.");
    expect(await guestBookPage.preactScripts()).toHaveLength(1);
    expect(guestBookPage.loads()).toBe(1);
    expect(guestBookPage.problems).toEqual([]);
  });

  it("replaces an edited view and keeps its state", async () => {
    const { page } = guestBookPage;
    await page.getByLabel("Your name").fill("half typed");
    const view = files.get("src/guest-book.tsx") ?? "";
    guestBook.write("src/guest-book.tsx", view.replace(">Sign<", ">Write it down<"));
    await page.getByRole("button", { name: "Write it down" }).waitFor();
    expect(await page.getByLabel("Your name").inputValue()).toBe("half typed");
    expect(guestBookPage.loads()).toBe(1);
    expect(guestBookPage.problems).toEqual([]);
  });

  it("reloads the page after a page module was edited", async () => {
    const { page } = guestBookPage;
    const pages = files.get("src/pages.server.tsx") ?? "";
    guestBook.write("src/pages.server.tsx", pages.replace("<h1>Guest book", "<h1>Our guests"));
    await page.getByRole("heading", { name: "Our guests" }).waitFor();
    await expect.poll(() => guestBookPage.loads()).toBe(2);
    expect(guestBookPage.problems).toEqual([]);
  });
});

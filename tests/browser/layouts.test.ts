/**
 * The application of docs/layouts.md, type-checked, built, and used in Chromium: async layouts with views, redirects of
 * calls, the sign-in page, and `before`.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { repository } from "#test/copy-example";
import { build, type RunningServer, startBuilt } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { goBack, launch, withFullBrowser } from "./chromium.ts";
import { layoutsProject } from "./layouts-app.ts";

let browser: Browser;
let project: TestProject;
let running: RunningServer;
let users: BrowserUsers;

beforeAll(async () => {
  project = layoutsProject();
  await build(project.dir);
  running = await startBuilt(project.dir, {
    WEB_ENV: "development",
    WEB_AUTH_SECRET: `${"9c".repeat(15)}0123456789abcdef${"7e".repeat(9)}`,
    WEB_CSRF_SECRET: `${"4b8d".repeat(15)}f0e1`,
  });
  browser = await launch();
  users = new BrowserUsers(browser, { baseURL: running.address });
});

afterEach(async () => {
  await users?.closeAll();
  project?.write("banned", "");
  project?.write("maintenance", "");
  expect(users?.problems.splice(0)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  expect(await running?.stop()).toBe(0);
  project?.remove();
});

/** Calls a function without a browser, and returns its result. */
async function call(name: string, args: object = {}): Promise<unknown> {
  const response = await send(`/__web/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ args }),
  });
  const { result } = (await response.json()) as { result: unknown }; // the body of a call
  return result;
}

const send = (path: string, init: RequestInit = {}) =>
  fetch(running.address + path, { redirect: "manual", ...init, headers: { connection: "close", ...init.headers } });

/** Signs in once the form is hydrated: before that, a click on its button does nothing. */
async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.locator("body[data-form=hydrated]").waitFor();
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Opens a path as Ada, who has to sign in first. */
async function openAsAda(path: string, owners = users): Promise<Page> {
  const page = await owners.reusePage();
  await page.goto(path);
  await signIn(page, "ada", "lovelace");
  return page;
}

it("has code in its document that compiles", () => {
  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  const { stdout, status } = spawnSync(process.execPath, [tsc], { cwd: project.dir, encoding: "utf8" });
  expect([stdout, status]).toEqual(["", 0]);
});

describe("an async layout", () => {
  it("runs while the page does, and its views and those of the page are hydrated", async () => {
    const page = await openAsAda("/boards/1");
    await page.getByRole("heading", { name: "Garden" }).waitFor();
    await call("wait_for_layout", { on: true }); // from here on, the page waits for the layout
    await page.reload();
    await page.getByRole("heading", { name: "Garden" }).waitFor();
    await call("wait_for_layout", { on: false });
    expect(await page.locator("nav > a").allTextContents()).toEqual(["Garden", "Kitchen"]);
    await page.getByRole("button", { name: "tick 0" }).click();
    await page.getByRole("button", { name: "tick 1" }).waitFor();
    await page.getByLabel("Note").fill("hydrated");
    expect(await page.locator("main form").getAttribute("method")).toBe("dialog");
  });

  it("shares a query with the page by once()", async () => {
    const page = await openAsAda("/sign-in");
    await page.getByText("You have 2 boards.").waitFor();
    const before = Number(await call("queries"));
    await page.reload();
    await page.getByText("You have 2 boards.").waitFor();
    expect(await call("queries")).toBe(before + 1);
  });

  it("surrounds the error page, whose data it shares", async () => {
    const page = await openAsAda("/boards/3");
    await page.getByRole("heading", { name: "There is no such board." }).waitFor();
    await page.getByText("You have 2 other boards.").waitFor();
    expect(await page.locator("nav > a").count()).toBe(2);
    expect(await page.textContent("body")).not.toContain("Secret");
  });

  it("is called by a nested layout, which refuses", async () => {
    const ada = await openAsAda("/admin/users");
    expect(await ada.locator("main > section.admin > p").textContent()).toBe("There are 2 users.");
    const grace = await users.newPage();
    await grace.goto("/sign-in");
    await signIn(grace, "grace", "hopper");
    await grace.getByText("You have 1 boards.").waitFor();
    expect((await grace.goto("/admin/users"))?.status()).toBe(403);
  });
});

describe("the sign-in page", () => {
  it("is opened by a page that requires a user, and leads back to it", async () => {
    const page = await users.reusePage();
    await page.goto("/boards/1?tab=notes");
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/sign-in?next=%2Fboards%2F1%3Ftab%3Dnotes");
    await signIn(page, "ada", "wrong");
    await page.getByText("Unknown name or wrong password.").waitFor();
    await signIn(page, "ada", "lovelace");
    await page.waitForURL("/boards/1?tab=notes");
    await page.getByRole("heading", { name: "Garden" }).waitFor();
  });

  it.each(["https://evil.example", "//evil.example", "/\\evil.example"])(
    "does not lead to another site: %s [SITE-32]",
    async (next) => {
      const page = await openAsAda(`/sign-in?next=${encodeURIComponent(next)}`);
      await page.waitForURL("/");
      await page.goto(`/sign-in?next=${encodeURIComponent(next)}`);
      await page.waitForURL("/");
    },
  );
});

describe("a call that redirects", () => {
  it("loads the page again, also if only the fragment of its URL differs, and 'Back' finds a page in order", () =>
    withFullBrowser({ baseURL: running.address }, async (owners) => {
      const page = await openAsAda("/boards/2", owners);
      for (const [index, note] of ["Bake", "Cook"].entries()) {
        await page.getByLabel("Note").fill(note);
        await page.getByRole("button", { name: "Add" }).click();
        await page.locator(`#note-${index}`, { hasText: note }).waitFor();
        expect(new URL(page.url()).hash).toBe(`#note-${index}`);
      }
      await goBack(page);
      await page.getByRole("button", { name: "Add" }).waitFor();
      expect(await page.getByRole("button", { name: "Add" }).isEnabled()).toBe(true);
    }));
});

describe("before", () => {
  it("answers pages, calls and live updates of a banned client, but not files and health checks", async () => {
    const html = await (await send("/sign-in")).text();
    const [, script = ""] = /<script type="module" src="([^"]+)"/.exec(html) ?? [];
    expect((await send("/logo.svg")).headers.get("x-robots-tag")).toBeNull();
    expect((await send("/sign-in")).headers.get("x-robots-tag")).toBe("noindex");
    project.write("banned", "127.0.0.1\n::1");
    for (const path of ["/", "/sign-in", "/nowhere", "/__web/rpc/queries", "/__web/live", "/logo.svg/"]) {
      const response = await send(path);
      expect([path, response.status, await response.text()]).toEqual([path, 403, "You are banned.\n"]);
    }
    for (const path of [script, "/logo.svg", "/healthz", "/readyz"]) expect((await send(path)).status).toBe(200);
  });

  it("runs for the path of a file that was deleted after the build [REQUEST-89]", async () => {
    rmSync(project.file("dist/client/logo.svg"));
    expect((await send("/logo.svg")).status).toBe(404);
    project.write("banned", "127.0.0.1\n::1");
    expect((await send("/logo.svg")).status).toBe(403);
  });

  it("can close the application for maintenance, apart from a page", async () => {
    project.write("maintenance", "on");
    const closed = await send("/");
    expect([closed.status, closed.headers.get("retry-after")]).toEqual([503, "600"]);
    expect((await send("/sign-in")).status).toBe(200);
  });
});

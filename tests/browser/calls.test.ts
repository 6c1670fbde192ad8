/**
 * Calls and streams of a built application in Chromium: CSRF tokens, and every statement that ends the loop of a stream.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";
import { buildPages } from "./site-app.ts";

let browser: Browser;
let project: TestProject;
let running: RunningServer;
let users: BrowserUsers;

beforeAll(async () => {
  project = await buildPages();
  const secrets = {
    WEB_AUTH_SECRET: `${"9c".repeat(15)}0123456789abcdef${"7e".repeat(9)}`,
    WEB_CSRF_SECRET: `${"4b8d".repeat(15)}f0e1`,
  };
  running = await startBuilt(project.dir, { WEB_ENV: "development", ...secrets });
  browser = await launch();
  users = new BrowserUsers(browser, { baseURL: running.address });
});

afterEach(async () => {
  await users?.closeAll();
  expect(users?.problems.splice(0)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  expect(await running?.stop()).toBe(0);
  project?.remove();
});

async function press(page: Page, name: string): Promise<string> {
  await page.getByRole("button", { name, exact: true }).click();
  const shown = page.locator("output").filter({ hasText: new RegExp(`^${name}: `) });
  await shown.waitFor();
  return ((await shown.textContent()) ?? "").slice(name.length + 2);
}

async function open(): Promise<Page> {
  const page = await users.reusePage();
  await page.goto("/calls");
  return page;
}

describe("a function with auth_required, in an application with CSRF tokens", () => {
  it("can be called before and after sign-in and sign-out on the same page", async () => {
    const page = await open();
    expect(await press(page, "spend")).toBe("unauthenticated Sign in to continue.");
    await press(page, "enter");
    expect(await press(page, "spend")).toBe("ada");
    await press(page, "leave");
    expect(await press(page, "spend")).toBe("unauthenticated Sign in to continue.");
    await press(page, "enter");
    expect(await press(page, "spend")).toBe("ada");
  });

  it("can be called from a tab that was opened before the sign-in in another tab", async () => {
    const first = await open();
    const second = await first.context().newPage();
    await second.goto("/calls");
    await press(first, "enter");
    expect(await press(second, "spend")).toBe("ada");
    await press(second, "enter");
    expect(await press(first, "spend")).toBe("ada");
  });

  it("cannot be called without the token, even with the session cookie", async () => {
    const page = await open();
    await press(page, "enter");
    const status = await page.evaluate(async () => {
      const headers = { "content-type": "application/json" };
      return (await fetch("/__web/rpc/spend", { method: "POST", headers, body: '{"args":{}}' })).status;
    });
    expect(status).toBe(403);
  });
});

describe("a call that is cancelled", () => {
  it("rejects with an AbortError, ends its request on the server, and does not replace a later result", async () => {
    const page = await open();
    await page.getByLabel("Search").fill("slow");
    await expect.poll(() => press(page, "waiting")).toContain("slow");
    await page.getByLabel("Search").fill("slower");
    await page.getByText("slow was cancelled", { exact: true }).waitFor();
    await expect.poll(() => press(page, "waiting")).toContain("slower");
    await page.getByLabel("Search").fill("tea");
    await page.getByText("tea,teapot", { exact: true }).waitFor();
    await expect
      .poll(async () => (await press(page, "closed")).split(","))
      .toEqual(expect.arrayContaining(["slow", "slower"]));
  });

  it("reports no error if nothing awaits it", async () => {
    const page = await open();
    await press(page, "abandon");
    await expect.poll(async () => (await press(page, "closed")).split(",")).toContain("abandoned");
    // Uncaught errors of the page fail the test in afterEach.
  });
});

describe("a stream", () => {
  it("yields its values and ends", async () => {
    expect(await press(await open(), "whole")).toBe("10");
  });

  it.each([
    ["break", "1000,999,998"],
    ["throw", "1000,999,-1"],
    ["cancel", "1000,999,998"],
  ])("that is left by %s ends the function on the server", async (button, values) => {
    const page = await open();
    expect(await press(page, button)).toBe(values);
    await expect.poll(async () => (await press(page, "closed")).split(",")).toContain(button);
  });

  it("throws an error after the values before it, and does not reveal an internal error", async () => {
    const page = await open();
    expect(await press(page, "failing")).toBe("1,2,conflict,Enough.");
    const message = await press(page, "broken");
    expect(message).toMatch(/^internal Something went wrong on the server\. See request [0-9a-f]{32} in its log\.$/);
    const [, id] = /request ([0-9a-f]{32})/.exec(message) ?? [];
    expect(running.output()).toContain("an internal detail");
    expect(running.output()).toContain(String(id));
  });
});

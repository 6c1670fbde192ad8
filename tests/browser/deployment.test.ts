/**
 * Pages of one build that meet servers of another one, in Chromium: what works on, what reloads, and that nothing that was
 * typed is lost.
 */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Nginx } from "#test/nginx";
import { DeploymentApp } from "./deployment-app.ts";

let app: DeploymentApp;

beforeAll(async () => {
  app = await DeploymentApp.open();
});

beforeEach(() => {
  app.refused.length = 0;
  app.route = () => "first";
});

afterEach(() => app.users.closeAll());

afterAll(() => app?.close());

/** A page whose loads are counted, and whose timers the test can stop and run. */
interface OpenPage {
  readonly page: Page;
  readonly loads: () => number;
  /** Waits for a text in an element, by its selector. */
  readonly expectText: (selector: string, text: string) => Promise<void>;
}

async function open(path = "/", javaScriptEnabled = true): Promise<OpenPage> {
  const page = await app.users.newPage({ javaScriptEnabled });
  let loads = 0;
  page.on("load", () => {
    loads += 1;
  });
  if (javaScriptEnabled) await page.clock.install();
  await page.goto(app.url(path));
  const expectText = (selector: string, text: string) =>
    expect.poll(() => page.locator(selector).textContent().catch(String), { timeout: 30_000 }).toContain(text);
  return { page, loads: () => loads, expectText };
}

/** Clicks a button of the view, which is enabled once the view is hydrated. */
async function click({ page }: OpenPage, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
}

/** Stops the timers of the page, so that it is neither reloaded nor sends a call again before {@link runUntil}. */
async function stopTimers({ page }: OpenPage): Promise<void> {
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 5_000); // the clock runs on while this is sent
}

/** Runs the timers of the page, half a second at a time, until a condition holds. Then they go on by themselves. */
async function runUntil({ page }: OpenPage, condition: () => boolean | Promise<boolean>): Promise<void> {
  await expect
    .poll(
      async () => {
        await page.clock.runFor(500).catch(() => undefined); // the page is being replaced
        return condition();
      },
      { timeout: 60_000 },
    )
    .toBe(true);
  await page.clock.resume();
}

/** Runs the timers of the page for longer than all delays of a reload. */
async function runForMinutes({ page }: OpenPage): Promise<void> {
  for (let n = 0; n < 4; n++) await page.clock.runFor(30_000);
}

describe("a page of the earlier build, after the later one was deployed", () => {
  it("calls a function whose signature is the same, and is not reloaded", async () => {
    const opened = await open();
    await click(opened, "unchanged");
    await opened.expectText("output", "first a");
    app.route = () => "second";
    await click(opened, "unchanged");
    await opened.expectText("output", "second a");
    await runForMinutes(opened);
    expect([opened.loads(), app.refused]).toEqual([1, []]);
  });

  it.each(["changed", "removed"])("is reloaded once by a call of a function that was %s", async (name) => {
    const opened = await open();
    app.route = () => "second";
    await opened.page.getByRole("button", { name, exact: true, disabled: false }).waitFor();
    await stopTimers(opened);
    await click(opened, name);
    await opened.expectText("output", "conflict page");
    await runUntil(opened, () => opened.loads() === 2);
    await opened.expectText("h1", "second");
    await click(opened, "added");
    await opened.expectText("output", "second a");
    await runForMinutes(opened);
    expect([opened.loads(), app.refused]).toEqual([2, ["second"]]);
  });

  it("is not reloaded while a text is half typed", async () => {
    const opened = await open();
    app.route = () => "second";
    await opened.page.locator("#draft").fill("Dear Ada, I");
    await click(opened, "changed");
    await opened.expectText("output", "conflict page");
    await runForMinutes(opened);
    expect(await opened.page.locator("#draft").inputValue()).toBe("Dear Ada, I");
    expect(opened.loads()).toBe(1);
    await opened.page.locator("#draft").fill("");
    await runUntil(opened, () => opened.loads() === 2);
    await opened.expectText("h1", "second");
  });

  it("shows the error of a changed form, with what was typed, and is not reloaded", async () => {
    const opened = await open();
    app.route = () => "second";
    const field = opened.page.locator("form input[name=text]");
    await field.fill("a long text");
    await click(opened, "send");
    await opened.expectText("form p", "Reload the page");
    await runForMinutes(opened);
    expect([await field.inputValue(), opened.loads(), app.refused]).toEqual(["a long text", 1, ["second"]]);
  });

  it("loads a script of its own build, which the later build has taken over", async () => {
    const opened = await open();
    app.route = () => "second";
    await click(opened, "lazy");
    await opened.expectText("output", "lazy first");
    expect(opened.loads()).toBe(1);
  });
});

describe("a page of the later build that meets a server of the earlier one", () => {
  it("sends a call again until a server of its own build handles it", async () => {
    app.route = () => "second";
    const opened = await open();
    app.route = (path) => (path.startsWith("/__web/") && app.refused.length < 3 ? "first" : "second");
    await opened.page.getByRole("button", { name: "added", disabled: false }).waitFor();
    await stopTimers(opened);
    await click(opened, "added");
    await opened.expectText("output", "waiting");
    await runUntil(opened, async () => (await opened.page.locator("output").textContent()) === "second a");
    await runForMinutes(opened);
    expect([opened.loads(), app.refused]).toEqual([1, ["first", "first", "first"]]);
  });

  it("is reloaded after 10 seconds, for example after a rollback", async () => {
    app.route = () => "second";
    const opened = await open();
    app.route = () => "first";
    await click(opened, "changed");
    await runUntil(opened, () => opened.loads() === 2);
    await opened.expectText("h1", "first");
    expect(app.refused.length).toBe(21);
    await click(opened, "removed");
    await opened.expectText("output", "first a");
  });
});

describe("a script that a server does not have", () => {
  it("reloads the page once when it is that of a view, and the view then starts", async () => {
    let documents = 0;
    app.route = (path) => {
      if (path === "/") documents++;
      return path.startsWith("/assets/board-") && documents === 1 ? "first" : "second";
    };
    const opened = await open();
    await runUntil(opened, () => opened.loads() === 2);
    await click(opened, "added");
    await opened.expectText("output", "second a");
    expect(opened.loads()).toBe(2);
  });

  it("reloads the page only once if it is still missing", async () => {
    app.route = (path) => (path.startsWith("/assets/board-") ? "first" : "second");
    const opened = await open();
    await runUntil(opened, () => opened.loads() === 2);
    await runForMinutes(opened);
    expect(opened.loads()).toBe(2);
  });

  it("reloads the page when the application imports it, but not while a text is half typed", async () => {
    app.route = () => "second";
    const opened = await open();
    await opened.page.locator("#draft").fill("Dear Ada, I");
    app.route = (path) => (path.startsWith("/assets/lazy-") ? "first" : "second");
    await click(opened, "lazy");
    await opened.expectText("output", "undefined");
    await runForMinutes(opened);
    expect([await opened.page.locator("#draft").inputValue(), opened.loads()]).toEqual(["Dear Ada, I", 1]);
    await opened.page.locator("#draft").fill("");
    await runUntil(opened, () => opened.loads() === 2);
    app.route = () => "second";
    await click(opened, "lazy");
    await opened.expectText("output", "lazy second");
  });
});

describe("a form that is sent without script from a page of the earlier build", () => {
  it("is handled if its function has the same signature", async () => {
    const { page, expectText } = await open("/plain", false);
    app.route = () => "second";
    await page.locator("form").nth(2).locator("[name=text]").fill("kept");
    await page.getByRole("button", { name: "keep" }).click();
    await expectText("h1", "second");
    expect([app.refused, await page.locator("[role=alert]").count()]).toEqual([[], 0]);
  });

  it("is shown again with all that was typed if its function was changed", async () => {
    const { page, expectText } = await open("/plain", false);
    app.route = () => "second";
    await page.locator("[name=text]").first().fill("a long text");
    await page.locator("[name=note]").fill("for a field that is gone");
    await page.getByRole("button", { name: "change" }).click();
    await expectText("h1", "second");
    await expectText("[role=alert]", "the form has changed");
    await expectText("[role=alert]", "note: for a field that is gone");
    expect(await page.locator("[name=text]").first().inputValue()).toBe("a long text");
    await page.locator("[name=count]").fill("3");
    await page.getByRole("button", { name: "change" }).click();
    await expect.poll(() => page.locator("[role=alert]").count()).toBe(0);
    expect(app.refused).toEqual(["second"]);
  });

  it("is answered with all that was typed if its function was removed", async () => {
    const { page, expectText } = await open("/plain", false);
    app.route = () => "second";
    await page.locator("[name=essay]").fill("Dear Ada,\nI");
    await page.getByRole("button", { name: "remove" }).click();
    await expectText("main", "essay: Dear Ada,\nI");
    expect(app.refused).toEqual(["second"]);
  });
});

describe("nginx with the recipe in front of a process of each build", () => {
  it("serves the scripts and styles of both, whichever process has the turn, and 404 for what neither has", async () => {
    const ports = (["first", "second"] as const).map((build) => Number(new URL(app.servers[build].address).port));
    const nginx = await Nginx.start({ ports, usesRecipe: true });
    try {
      for (const build of ["first", "second"] as const) {
        const page = await (await fetch(app.servers[build].address)).text();
        const assets = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
        expect(assets.length).toBeGreaterThan(0);
        for (const path of [...assets, ...assets]) {
          const response = await fetch(nginx.address + path);
          expect([path, response.status]).toEqual([path, 200]);
          await response.arrayBuffer();
        }
      }
      const missing = await fetch(`${nginx.address}/assets/missing-00000000.js`);
      expect([missing.status, await missing.text()]).toEqual([404, expect.not.stringContaining("nginx")]);
    } finally {
      await nginx.stop();
    }
  });
});

it("logs the refused calls by reason, at most one line a minute, with the name of a function that has changed", () => {
  const lines = app.servers.second
    .output()
    .split("\n")
    .filter((line) => line.includes("stale_page"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines[0]).toMatchObject({ reason: "stale_page", refused: 1, name: "changed", live_connections: 0 });
  expect(lines.length).toBeLessThan(6);
});

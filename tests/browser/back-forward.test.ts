/**
 * Pages that the full Chromium keeps for Back: with views, calls, streams and live updates. They take no input before the server
 * has confirmed their sign-in. @see docs/protocol.md 2.6 and 7.10
 */
import type { Page, Route } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import { startBack } from "./chromium.ts";
import { buildPages, serveInBrowser } from "./site-app.ts";

const app = serveInBrowser(buildPages, { fullBrowser: true });
let page: Page;

beforeEach(async () => {
  page = app.page;
  await page.goto("/room");
  await isReady();
});

const isReady = () => page.locator("html[data-ready=yes]").waitFor({ state: "attached" });
const textOf = (id: string) => page.textContent(`#${id}`);

/** Marks the page that is shown, so that the same one is recognized, and notes when it was restored. */
const mark = () =>
  page.evaluate(() => {
    Object.assign(globalThis, { isMarked: true });
    addEventListener("pageshow", ({ persisted }) =>
      Object.assign(globalThis, { persisted, restoredAt: performance.now() }),
    );
  });
const isMarked = () => page.evaluate(() => "isMarked" in globalThis).catch(() => null); // null while it is loaded

/** Leaves the page, and goes back to it. */
async function leaveAndReturn(meanwhile = async () => {}): Promise<void> {
  await mark();
  await page.goto("/elsewhere");
  await meanwhile();
  await startBack(page);
}

/** Calls a function as another client. */
async function call(name: string, args: object): Promise<void> {
  const response = await fetch(`${app.running.address}/__web/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ args }),
  });
  expect(response.status).toBe(200);
}

describe("a page with views", () => {
  it("is kept for Back after calls, an error, a stream, a form and live updates, and is live again with what was missed", async () => {
    await page.click("#use");
    await expect.poll(() => Promise.all([textOf("done"), textOf("messages")])).toEqual(["2", "hello"]);
    await page.fill("[name=text]", "saved");
    await page.click("#save");
    await expect.poll(() => page.textContent("i")).toBe("saved");
    await leaveAndReturn(() => call("say", { channel: "room", text: "meanwhile" }));
    await expect.poll(() => textOf("messages")).toBe("hello,meanwhile");
    expect(await page.evaluate("persisted")).toBe(true);
    await expect.poll(() => page.evaluate(() => document.body.inert)).toBe(false);
    await page.click("#click");
    expect(await textOf("click")).toBe("1");
  });

  it("takes no input when it is restored before the server has answered, and keeps the focus and what was typed", async () => {
    await page.type("#draft", "half");
    let answer = () => {};
    const isRequested = new Promise<void>((requested) => {
      void page.route("**/__web/session", async (route) => {
        const answered = new Promise<void>((resolve) => (answer = resolve));
        requested();
        await answered;
        await route.continue();
      });
    });
    await leaveAndReturn();
    await isRequested;
    expect(await page.evaluate(() => document.body.inert)).toBe(true);
    answer();
    await expect.poll(() => page.evaluate(() => document.body.inert)).toBe(false);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("draft");
    await page.keyboard.type(" typed");
    expect(await page.inputValue("#draft")).toBe("half typed");
    expect(await isMarked()).toBe(true);
  });

  it("takes no input when it is restored a second time, and the request of the first time fails", async () => {
    const routes: Route[] = [];
    await page.route("**/__web/session", (route) => void routes.push(route));
    await leaveAndReturn();
    await expect.poll(() => routes.length).toBe(1);
    await leaveAndReturn();
    await expect.poll(() => routes.length).toBe(2);
    await routes[0]?.abort().catch(() => undefined); // the browser may have ended it
    expect(await page.evaluate(() => new Promise((resolve) => setTimeout(() => resolve(document.body.inert))))).toBe(
      true,
    );
    await routes[1]?.continue();
    await expect.poll(() => page.evaluate(() => document.body.inert)).toBe(false);
    app.users.problems.splice(0); // the browser reports the request that failed
  });

  it("is used as it is if the server cannot be reached, has no such path, as an older version, or is overloaded", async () => {
    for (const status of [undefined, 404, 503]) {
      await page.route("**/__web/session", (route) => (status ? route.fulfill({ status }) : route.abort()));
      await leaveAndReturn();
      await expect.poll(() => page.evaluate(() => "persisted" in globalThis && !document.body.inert)).toBe(true);
      expect(await isMarked()).toBe(true);
      await page.unroute("**/__web/session");
      await page.evaluate("delete globalThis.persisted");
    }
    app.users.problems.splice(0); // the browser reports the requests that failed
  });

  it("is reloaded when its sign-in was revoked meanwhile [BACK-8]", async () => {
    await page.click("#enter");
    await expect.poll(() => textOf("who").catch(() => null)).toBe("ada");
    await isReady();
    await mark();
    await page.goto("about:blank"); // no page of the site, which would make the browser remove the kept ones
    app.running.signal("SIGUSR2");
    await expect.poll(() => app.running.output()).toContain("Ada is revoked.");
    await startBack(page);
    await expect.poll(() => textOf("who").catch(() => null)).toBe("nobody");
    await expect.poll(isMarked).toBe(false);
  });

  it.each(["with", "without"])("shows nothing of the user on Back after a sign-out, %s another tab", async (how) => {
    await page.click("#enter");
    await expect.poll(() => textOf("who").catch(() => null)).toBe("ada");
    await isReady();
    await mark();
    if (how === "without") {
      await page.click("#leave");
      await page.waitForURL("**/elsewhere");
    } else {
      await page.goto("/elsewhere");
      const other = await page.context().newPage();
      await other.goto("/room");
      await other.click("#leave");
      await other.waitForURL("**/elsewhere");
      await other.close();
    }
    const shown: (string | null)[] = [];
    await startBack(page);
    await expect
      .poll(async () => {
        const who = await textOf("who").catch(() => null);
        shown.push(who);
        return [who, new URL(page.url()).pathname];
      })
      .toEqual(["nobody", "/room"]);
    expect(shown).not.toContain("ada");
  });
});

import { randomBytes } from "node:crypto";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { LATER_APP, PLACES } from "#test/later-app";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import { TestProject } from "#test/test-project";
import { launch, styleOf } from "./chromium.ts";

let project: TestProject;
let server: RunningServer;
let browser: Browser;
let users: BrowserUsers;

beforeAll(async () => {
  project = TestProject.fromFiles(LATER_APP);
  await buildOnce(project.dir, "later");
  const secret = () => randomBytes(32).toString("hex");
  const env = { WEB_AUTH_SECRET: secret(), WEB_CSRF_SECRET: secret(), WEB_ACCESS_LOG: "1" };
  [browser, server] = await Promise.all([launch(), startBuilt(project.dir, env)]);
  users = new BrowserUsers(browser, { baseURL: server.address });
});

afterEach(async () => {
  await users.closeAll();
  expect(users.problems.splice(0)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  project?.remove();
});

/** Opens a page up to its first byte. */
async function open(path: string, options?: BrowserContextOptions): Promise<Page> {
  const page = await users.reusePage(options);
  await page.goto(path, { waitUntil: "commit" });
  return page;
}

/** Makes a part ready, once it waits. */
async function release(part: string): Promise<void> {
  await expect.poll(async () => (await fetch(`${server.address}/release/${part}`)).json()).toEqual({ found: true });
}

/** Returns the parts that wait. */
const waiting = async () => (await fetch(`${server.address}/open`)).json();

describe("parts of a page in Chromium", () => {
  it("arrive in any order, while the views of the page work, and hydrate their own views and style sheets", async () => {
    const page = await open("/views");
    await page.click("#shell[data-alive=true]");
    expect(await page.textContent("main")).toBe("shell 1waiting for onewaiting for two");
    await release("two");
    await page.click("#two[data-alive=true]");
    expect(await page.textContent("main")).toBe("shell 1waiting for onetwo 1waiting for inner");
    await release("one");
    await page.click("#one[data-alive=true]");
    expect(await styleOf(page, ".styled", "color")).toBe("rgb(1, 2, 3)");
    expect(await styleOf(page, "#one", "font-weight")).toBe("700");
    await release("inner");
    await page.click("#inner[data-alive=true]");
    expect(await page.textContent("main")).toBe("shell 1styledone 1two 1inner 1");
    await page.waitForLoadState("load");
  });

  it("are rows of a table", async () => {
    const page = await open("/table");
    await page.locator("tbody > tr > #wait").waitFor();
    await release("rows");
    await page.locator("tbody > tr:nth-child(3)").waitFor();
    expect(await page.evaluate(() => document.querySelector("table")?.outerHTML)).toBe(
      '<table><tbody><tr><td>first</td></tr><tr><td class="row">row 1</td></tr><tr><td class="row">row 2</td></tr></tbody></table>',
    );
    await release("text");
    await page.locator("#text").waitFor();
  });

  it("are options, parts of tables and lists, and HTML in an image", async () => {
    const page = await users.reusePage();
    await page.goto("/places");
    expect(await page.evaluate(() => document.querySelector("main")?.innerHTML.replace(/=""|"/g, ""))).toBe(PLACES);
    expect(await page.inputValue("select")).toBe("b");
    expect(await page.evaluate(() => document.querySelector("i")?.namespaceURI)).toBe("http://www.w3.org/1999/xhtml");
  });

  it("work with scripting off, without another request", async () => {
    const countRequests = () => server.output().match(/"name":"\/table"/g)?.length ?? 0;
    const before = countRequests();
    const page = await users.reusePage({ javaScriptEnabled: false });
    const loaded = page.goto("/table");
    await release("rows");
    await release("text");
    await loaded;
    await page.locator("#text").waitFor();
    expect(await page.locator(".row").count()).toBe(2);
    // The refresh would happen once the document is loaded. Chromium reports that it does not open the other address.
    await expect
      .poll(() => users.problems.splice(0))
      .toEqual([expect.stringContaining("Not allowed to navigate top frame to data URL")]);
    expect(page.url()).toBe(`${server.address}/table`);
    await expect.poll(countRequests).toBe(before + 1); // the line is written after the response
  });

  it("have live updates and forms, on a page without other views", async () => {
    const page = await open("/only-later");
    await page.locator("#wait-room").waitFor();
    expect(await page.locator("script[src]").count()).toBe(0);
    await release("room");
    await page.locator("#room[data-alive=true]").waitFor({ state: "attached" });
    await page.evaluate(() => fetch("/say/hello"));
    await expect.poll(() => page.textContent("#room")).toBe("hello");
    await release("form");
    await page.fill("[name=text]", "Ada");
    const sent = page.click("#save"); // the response to a form is the whole page
    await release("room");
    await release("form");
    await sent;
    await page.locator("form output:text-is('saved Ada')").waitFor();
  });

  it("cannot be forged by other HTML of the page [LATER-2]", async () => {
    const page = await open("/forged");
    await release("forged");
    await page.locator("#real").waitFor();
    const src = await page.getAttribute("body > script[src*='/later-']", "src");
    await page.evaluate(
      (src) =>
        new Promise((resolve) => {
          const script = document.createElement("script");
          script.src = src ?? "";
          script.onload = resolve;
          document.querySelector("main > script")?.after(script);
        }),
      src,
    );
    expect(await page.evaluate(() => "isForged" in globalThis)).toBe(false);
    await page.waitForLoadState("load");
  });

  it("show the error page in their places", async () => {
    const page = await open("/failing");
    await release("failing");
    await page.locator("main > div > h1").waitFor();
    await page.locator("ul > li > div > h1").waitFor();
    expect(await page.textContent("body")).not.toContain("secret");
  });

  it("end when the user leaves [LATER-5]", async () => {
    const page = await open("/table");
    await expect.poll(waiting).toEqual(expect.arrayContaining(["rows", "text"]));
    await page.goto("/plain");
    await expect.poll(waiting).toEqual([]);
  });
});

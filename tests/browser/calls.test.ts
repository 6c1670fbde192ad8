/**
 * Calls and streams of a built application in Chromium: CSRF tokens, and every statement that ends the loop of a stream.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { build, type RunningServer, startBuilt } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";

const FUNCTIONS = `
import { RPCError, type int, request, server, session } from "tsweb";

const closed: string[] = [];
export const enter = server((name: string) => { session.login(name); });
export const leave = server(() => { session.logout(); });
export const spend = server({ auth_required: true }, () => session.user()?.sub ?? "nobody");
export const closed_streams = server(() => closed.join());

const waiting: string[] = [];
export const waiting_calls = server(() => waiting.join());
export const words = server(async (text: string) => {
  if (text === "tea") return ["tea", "teapot"];
  waiting.push(text);
  await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
  closed.push(text);
  return [text];
});

export const countdown = server(async function* (from: int, tag: string) {
  try {
    for (let n = from; n > 0; n--) {
      yield n;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  } finally {
    closed.push(tag);
  }
});
export const failing = server(async function* () {
  yield 1;
  yield 2;
  throw new RPCError("conflict", "Enough.");
});
export const broken = server(function* () {
  yield request.path;
  throw new Error("an internal detail");
});
`;

const VIEW = `
import { type Call, RPCError, state, view } from "tsweb/browser";
import { broken, countdown, enter, failing, leave, spend, closed_streams, waiting_calls, words } from "./functions.server.ts";

export const Calls = view(() => {
  const shown = state({ text: "" });
  const found = state({ words: [] as string[], call: null as Call<string[]> | null });
  const find = async (text: string) => {
    found.call?.cancel();
    found.call = words(text);
    try {
      found.words = await found.call;
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
      found.words = [text + " was cancelled"];
    }
  };
  const run = (name: string, work: () => Promise<unknown>) => (
    <button type="button" onClick={async () => {
      shown.text = "";
      try {
        shown.text = name + ": " + (await work());
      } catch (error) {
        shown.text = name + ": " + (error instanceof RPCError ? error.code + " " + error.message : String(error));
      }
    }}>{name}</button>
  );
  const loop = async (tag: string, each: (n: number, stream: { cancel(): void }) => boolean | void) => {
    const stream = countdown(1000, tag);
    const values: number[] = [];
    try {
      for await (const n of stream) {
        values.push(n);
        if (each(n, stream)) break;
      }
    } catch (error) {
      values.push(-1);
    }
    return values.join();
  };
  return (
    <main>
      {run("enter", () => enter("ada"))}
      {run("leave", () => leave())}
      {run("spend", () => spend())}
      {run("closed", () => closed_streams())}
      {run("whole", async () => {
        let sum = 0;
        for await (const n of countdown(4, "whole")) sum += n;
        return sum;
      })}
      {run("break", () => loop("break", (n) => n === 998))}
      {run("throw", () => loop("throw", (n) => { if (n === 999) throw new Error("mine"); }))}
      {run("cancel", () => loop("cancel", (n, stream) => { if (n === 998) stream.cancel(); }))}
      {run("failing", async () => {
        const values: unknown[] = [];
        try {
          for await (const n of failing()) values.push(n);
        } catch (error) {
          values.push(error instanceof RPCError && error.code, String(error));
        }
        return values.join();
      })}
      {run("waiting", () => waiting_calls())}
      {run("abandon", async () => {
        const call = words("abandoned");
        while (!(await waiting_calls()).includes("abandoned"));
        call.cancel();
      })}
      <input aria-label="Search" onInput={(event) => find(event.currentTarget.value)} />
      <p role="status">{found.words.join()}</p>
      {run("broken", async () => {
        for await (const path of broken()) shown.text = path;
      })}
      <output>{shown.text}</output>
    </main>
  );
});
`;

const PAGES = `
import { page } from "tsweb";
import { Calls } from "./calls.tsx";
export const home = page("/", { title: "Calls" }, () => <Calls />);
`;

const APP = `
import { App } from "tsweb";
import * as functions from "./functions.server.ts";
import * as pages from "./pages.server.tsx";
export default new App({ modules: [functions, pages] });
`;

let browser: Browser;
let project: TestProject;
let running: RunningServer;
let users: BrowserUsers;

beforeAll(async () => {
  project = TestProject.fromFiles({
    "src/app.ts": APP,
    "src/functions.server.ts": FUNCTIONS,
    "src/pages.server.tsx": PAGES,
    "src/calls.tsx": VIEW,
    "public/favicon.ico": "",
  });
  await build(project.dir);
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
  const page = await users.newPage();
  await page.goto("/");
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
    await second.goto("/");
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

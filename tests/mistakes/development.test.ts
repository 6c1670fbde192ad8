/**
 * The mistakes that the development server and the browser report: all in one guest book, on one server and in one
 * Chromium, one after the other.
 */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningServer, startDev } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { launch } from "../browser/chromium.ts";
import { sign, waitForHydration } from "./acts.ts";
import { createGuestBook, makeMistake, problemsOf } from "./guest-book.ts";
import type { Mistake, Place } from "./mistake.ts";
import { rowsWith } from "./table.ts";

const DEVELOPMENT = ["page", "overlay", "terminal", "console"] as const satisfies readonly Place[];
const rows = rowsWith(...DEVELOPMENT);

let project: TestProject;
let dev: RunningServer;
let browser: Browser;
/** A connection that receives the updates of all edits: without any, Vite sends the last one to the next page. */
let updates: Page;

beforeAll(async () => {
  project = createGuestBook();
  dev = await startDev(project.dir);
  browser = await launch();
  updates = await (await browser.newContext()).newPage();
  await updates.goto(`${dev.address}/__web/dev/@tsweb/edits`);
  const client = await (await fetch(`${dev.address}/__web/dev/@vite/client`, { headers: fromPage })).text();
  const [, token] = /const wsToken = "([^"]+)"/.exec(client) ?? [];
  await updates.evaluate((token) => {
    const socket = new WebSocket(`/__web/dev/?token=${token}`, "vite-hmr");
    return new Promise((resolve, reject) => {
      socket.onmessage = resolve;
      socket.onerror = reject;
    });
  }, token);
});

const fromPage = { "sec-fetch-dest": "script" };

afterAll(async () => {
  await browser?.close();
  const code = await dev?.stop();
  project?.remove();
  expect(code).toBe(0);
});

const editsText = async () => (await fetch(`${dev.address}/__web/dev/@tsweb/edits`)).text();

/** Changes files, and waits until the development server has detected the change of each. */
async function change(files: number, changeFiles: () => void): Promise<void> {
  const before = Number.parseInt(await editsText(), 10);
  changeFiles();
  await expect
    .poll(async () => {
      const text = await editsText();
      const count = Number.parseInt(text, 10) - before;
      return count >= files || (count > 0 && !text.endsWith("+")); // two in quick succession may count as one
    }, POLLING)
    .toBe(true);
}

const POLLING = { interval: 20 };

/** A page of a new user, and what its console has shown. */
interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly console: string[];
}

async function newPage(): Promise<OpenPage> {
  const context = await browser.newContext({ baseURL: dev.address });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const console: string[] = [];
  page.on("console", (message) => console.push(message.text()));
  page.on("pageerror", (error) => console.push(`${error.message}\n${error.stack}`));
  return { page, context, console };
}

/** Returns a function that returns what is shown in a place since this call. */
function readerOf(place: Place, { page, console }: OpenPage): () => Promise<string> {
  const { length } = dev.output();
  switch (place) {
    case "page":
      return async () => (await page.locator("main").allInnerTexts()).join("\n");
    case "overlay":
      return async () => (await page.locator("vite-error-overlay .window").allInnerTexts()).join("\n");
    case "terminal":
      return async () => dev.output().slice(length).replace(ANSI, "");
    case "console":
      return async () => console.join("\n");
    default:
      throw new Error(`The development server has no place ${place}.`);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with the control character ESC
const ANSI = /\u001b\[[0-9;]*m/g;

it("shows no message without a mistake", async () => {
  const opened = await newPage();
  const { page, console } = opened;
  const readTerminal = readerOf("terminal", opened);
  expect((await page.goto("/"))?.status()).toBe(200);
  await sign(page, "Ada");
  await page.locator("li", { hasText: "Ada" }).waitFor();
  expect(await page.locator("vite-error-overlay").count()).toBe(0);
  expect(console.filter((text) => !text.startsWith("[vite]"))).toEqual([]);
  expect((await readTerminal()).replace(/.* \[vite\] \(ssr\) connected\.\n/, "")).toBe("");
  await opened.context.close();
});

it("shows no message for errors that the page handles, and for those of others", async () => {
  const opened = await newPage();
  const { page } = opened;
  const readTerminal = readerOf("terminal", opened);
  await page.goto("/");
  await waitForHydration(page);
  await page.evaluate(async () => {
    const fail = (error: unknown, filename = location.href) =>
      dispatchEvent(new ErrorEvent("error", { error, message: String(error), filename, lineno: 1, colno: 1 }));
    const withStack = (stack: string) => Object.assign(new Error("foreign"), { stack });
    fail(withStack("Error: foreign\n    at run (chrome-extension://abc/content.js:1:2)"));
    fail(withStack("run@https://cdn.example/ads.js:1:2\n"));
    dispatchEvent(new ErrorEvent("error", { message: "Script error." }));
    dispatchEvent(new ErrorEvent("error", { message: "ResizeObserver loop limit exceeded", filename: location.href }));
    addEventListener("error", (event) => event.preventDefault(), { once: true });
    setTimeout(() => {
      throw new Error("handled by a listener");
    });
    const cancelled = Promise.reject(new DOMException("cancelled", "AbortError"));
    const late = Promise.reject(new Error("handled late"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await late.catch(() => undefined);
    void cancelled;
    // Messages arrive in order: when the last is shown, the others would be.
    reportError(new Error("The last error"));
  });
  const overlay = page.locator("vite-error-overlay .message");
  await expect.poll(() => overlay.allInnerTexts(), POLLING).toEqual(["Error: The last error"]);
  // Rejections are reported later than errors, so another one follows.
  await page.evaluate(() => void Promise.reject(new Error("The last rejection")));
  await expect.poll(readTerminal, POLLING).toContain("The last rejection");
  expect(await readTerminal()).not.toMatch(/handled|foreign|cancelled|Script error|ResizeObserver/);
  await opened.context.close();
});

it("has a different description for each mistake", () => {
  expect(rows.map(({ mistake }) => mistake)).toEqual([...new Set(rows.map(({ mistake }) => mistake))]);
});

it.each(rows.map((row) => [row.mistake, row] as const))("gets a message: %s", async (_mistake, row) => {
  const files = new Set(row.edits.map(({ file }) => file)).size;
  const opened = await newPage();
  const places = DEVELOPMENT.filter((place) => row.places.includes(place));
  const readers = places.map((place) => ({ place, read: readerOf(place, opened) }));
  let restore = () => {};
  try {
    await change(files, () => {
      restore = makeMistake(project, row.edits);
    });
    await expectMessage(opened, row, async () => {
      const problems = await Promise.all(readers.map(async ({ place, read }) => explain(row, place, await read())));
      return problems.filter(Boolean).join("\n\n");
    });
  } finally {
    await opened.context.close();
    await change(files, restore);
  }
});

/**
 * Opens the page and acts, until the message appears. If the page was opened before the edit had taken effect, it is opened
 * once more.
 *
 * @param findProblems returns what is missing in the message; empty if nothing is missing
 */
async function expectMessage(
  { page }: OpenPage,
  { path = "/", act }: Mistake,
  findProblems: () => Promise<string>,
): Promise<void> {
  const isSettled = async () => !(await editsText()).endsWith("+");
  const wasSettled = await isSettled();
  try {
    await page.goto(path);
    await act?.(page);
    await expect
      .poll(async () => (!wasSettled && (await isSettled())) || (await findProblems()) === "", POLLING)
      .toBe(true);
  } catch (error) {
    if (wasSettled) throw new Error(await findProblems(), { cause: error });
  }
  if ((await findProblems()) === "") return;
  await expect.poll(isSettled, POLLING).toBe(true);
  await page.goto(path);
  await act?.(page);
  await expect.poll(findProblems, POLLING).toBe("");
}

/** Returns what is missing in a message, and the message; empty if nothing is missing. */
function explain(row: Mistake, place: Place, text: string): string {
  const problems = problemsOf(text, row, place);
  return problems.length === 0 ? "" : `${problems.join("\n")}\n\n${text}`;
}

/**
 * The mistakes that the development server and the browser report: in a few guest books, each on a development server of its
 * own, and in one Chromium. On one server, a mistake is made after the other.
 */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch } from "../browser/chromium.ts";
import { sign, waitForHydration } from "./acts.ts";
import { DEVELOPMENT, DevGuestBook, waitUntil } from "./dev-guest-book.ts";
import { problemsOf } from "./guest-book.ts";
import type { Mistake, Place } from "./mistake.ts";
import { rowsWith, table } from "./table.ts";

/** Returns whether a browser has to show the page. Others are error pages, or the server prints the message for a request. */
const needsBrowser = ({ places, act }: Mistake) => !places.includes("page") && !(places.join() === "terminal" && !act);

/** Those that need a browser first: fewer changes between both. */
const rows = rowsWith(...DEVELOPMENT).toSorted((one, other) => Number(needsBrowser(other)) - Number(needsBrowser(one)));

/** The number of development servers. One waits for the effect of an edit while the other works. */
const SERVERS = 2;

let browser: Browser;
/** The guest books in which no mistake is made at the moment. */
const available: DevGuestBook[] = [];

beforeAll(async () => {
  browser = await launch();
  for (let count = 0; count < SERVERS; count++) available.push(await DevGuestBook.start(browser));
});

afterAll(async () => {
  await browser?.close();
  const codes = await Promise.all(available.map((guestBook) => guestBook.stop()));
  expect(codes).toEqual(Array.from({ length: SERVERS }, () => 0));
});

/** The tests that wait for one. */
const waiting: ((guestBook: DevGuestBook) => void)[] = [];

/** Calls a function with a guest book that no other test uses. */
async function withGuestBook(use: (guestBook: DevGuestBook) => Promise<void>): Promise<void> {
  const guestBook = available.shift() ?? (await new Promise<DevGuestBook>((resolve) => waiting.push(resolve)));
  try {
    await use(guestBook);
  } finally {
    const next = waiting.shift();
    if (next) next(guestBook);
    else available.push(guestBook);
  }
}

it("shows no message without a mistake", () =>
  withGuestBook(async (guestBook) => {
    const opened = await guestBook.newPage();
    const { page, console } = opened;
    const readTerminal = guestBook.terminalReader();
    expect((await page.goto("/"))?.status()).toBe(200);
    await sign(page, "Ada");
    await page.locator("li", { hasText: "Ada" }).waitFor();
    expect(await page.locator("vite-error-overlay").count()).toBe(0);
    expect(console.filter((text) => !/^(\[vite\]|Clear-Site-Data header)/.test(text))).toEqual([]);
    expect((await readTerminal()).replace(/.* \[vite\] \(ssr\) connected\.\n/, "")).toBe("");
    await opened.leave();
  }));

it("shows no message for errors that the page handles, and for those of others", () =>
  withGuestBook(async (guestBook) => {
    const opened = await guestBook.newPage();
    const { page } = opened;
    const readTerminal = guestBook.terminalReader();
    await page.goto("/");
    await waitForHydration(page);
    await page.evaluate(causeHandledErrors);
    const overlay = page.locator("vite-error-overlay .message");
    await waitUntil(async () => expect(await overlay.allInnerTexts()).toEqual(["Error: The last error"]));
    // Rejections are reported later than errors, so another one follows.
    await page.evaluate(() => void Promise.reject(new Error("The last rejection")));
    await waitUntil(async () => expect(await readTerminal()).toContain("The last rejection"));
    expect(await readTerminal()).not.toMatch(/handled|foreign|cancelled|Script error|ResizeObserver/);
    await opened.leave();
  }));

/** Runs in the page: causes errors that are no mistakes of the application, and one that is. */
async function causeHandledErrors(): Promise<void> {
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
}

it("has at least 100 mistakes, each with a description of its own", () => {
  const descriptions = table.map(({ mistake }) => mistake);
  expect(descriptions.length).toBeGreaterThanOrEqual(100);
  expect(descriptions).toEqual([...new Set(descriptions)]);
});

describe.concurrent("a mistake", () => {
  it.each(rows.map((row) => [row.mistake, row] as const))("gets a message: %s", (_mistake, row) =>
    withGuestBook((guestBook) => (needsBrowser(row) ? expectInBrowser : expectOfServer)(guestBook, row)),
  );
});

/** Makes a mistake, and requests the page. The next mistake restores the files: the server loads the program half as often. */
async function expectOfServer(guestBook: DevGuestBook, row: Mistake): Promise<void> {
  expect(row.act).toBeUndefined();
  expect(row.places).not.toContain("overlay");
  expect(row.places).not.toContain("console");
  const readTerminal = guestBook.terminalReader();
  await guestBook.makeMistake(row.edits);
  const read = () => guestBook.readPage(row.path ?? "/");
  if (row.places.includes("page")) await waitUntil(async () => requireMessage(row, "page", await read()));
  else await read();
  if (row.places.includes("terminal"))
    await waitUntil(async () => requireMessage(row, "terminal", await readTerminal()));
}

/** Makes a mistake, opens the page in a browser and acts, until the message appears everywhere. */
async function expectInBrowser(guestBook: DevGuestBook, row: Mistake): Promise<void> {
  await guestBook.restore(); // a page must not report the last mistake
  const opened = await guestBook.newPage();
  const readers = (["overlay", "terminal", "console"] as const)
    .filter((place) => row.places.includes(place))
    .map((place) => ({
      place,
      read: guestBook.readerOf(place, opened),
    }));
  await guestBook.makeMistake(row.edits);
  try {
    await opened.page.goto(row.path ?? "/");
    await row.act?.(opened.page);
    await waitUntil(async () => {
      for (const { place, read } of readers) requireMessage(row, place, await read());
    });
  } finally {
    await opened.leave();
    await guestBook.restore();
  }
}

/** @throws Error with what the message of a mistake lacks, and the message */
function requireMessage(row: Mistake, place: Place, text: string): void {
  const problems = problemsOf(text, row, place);
  if (problems.length > 0) throw new Error(`${problems.join("\n")}\n\n${text}`);
}

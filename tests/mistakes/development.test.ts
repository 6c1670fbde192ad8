/**
 * The mistakes that the development server and the browser report: one after the other in a guest book on one development server.
 * Rows that share their edits are asserted after one save.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { launch } from "../browser/chromium.ts";
import { sign, waitForHydration } from "./acts.ts";
import { DEVELOPMENT, DevGuestBook, readGuestBooks, waitUntil } from "./dev-guest-book.ts";
import { problemsOf } from "./guest-book.ts";
import type { Mistake, Place } from "./mistake.ts";
import { rowsWith, table } from "./table.ts";

/** Returns whether a browser has to show the page. Others are error pages, or the server prints the message for a request. */
const needsBrowser = ({ places, act }: Mistake) => !places.includes("page") && !(places.join() === "terminal" && !act);

/** Those that need a browser first: fewer changes between both. */
const rows = rowsWith(...DEVELOPMENT).toSorted((one, other) => Number(needsBrowser(other)) - Number(needsBrowser(one)));

let guestBook: DevGuestBook;

/**
 * The rows whose message the error page shows when a page of another application loads the modules of their guest book. Those of the
 * application itself, of its start and of the rendering need a save of their own.
 */
const shownTogether = new Set<Mistake>();

beforeAll(async () => {
  const ofPage = rows.filter(({ places, path }) => places.includes("page") && !places.includes("terminal") && !path);
  const texts = await readGuestBooks(ofPage.map(({ edits }) => edits));
  for (const [index, row] of ofPage.entries())
    if (problemsOf(texts[index] ?? "", row, "page").length === 0) shownTogether.add(row);
  const browser = await launch();
  guestBook = await DevGuestBook.start(browser);
  return async () => {
    await browser.close();
    expect(await guestBook.stop()).toBe(0);
  };
});

it("shows no message without a mistake", async () => {
  const { page, console } = await guestBook.newPage();
  const readTerminal = guestBook.terminalReader();
  expect((await page.goto("/"))?.status()).toBe(200);
  await sign(page, "Ada");
  await page.locator("li", { hasText: "Ada" }).waitFor();
  expect(await page.locator("vite-error-overlay").count()).toBe(0);
  expect(console.filter((text) => !/^(\[vite\]|Clear-Site-Data header)/.test(text))).toEqual([]);
  expect((await readTerminal()).replace(/.* \[vite\] \(ssr\) connected\.\n/, "")).toBe("");
});

it("shows no message for errors that the page handles, and for those of others", async () => {
  const { page } = await guestBook.newPage();
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
  await guestBook.leavePage();
});

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

describe("a mistake", () => {
  it.each(rows.map((row) => [row.mistake, row] as const))("gets a message: %s", (_mistake, row) =>
    (needsBrowser(row) ? expectInBrowser : expectOfServer)(row),
  );
});

/** Makes a mistake, and requests the page, unless the message was shown for the modules alone. */
async function expectOfServer(row: Mistake): Promise<void> {
  if (shownTogether.has(row)) return;
  expect(row.act).toBeUndefined();
  expect(row.places).not.toContain("overlay");
  expect(row.places).not.toContain("console");
  await guestBook.leavePage();
  await guestBook.makeMistake(row.edits);
  const readTerminal = guestBook.terminalReader();
  const read = () => guestBook.readPage(row.path ?? "/");
  if (row.places.includes("page")) await waitUntil(async () => requireMessage(row, "page", await read()));
  else await read();
  if (row.places.includes("terminal"))
    await waitUntil(async () => requireMessage(row, "terminal", await readTerminal()));
}

/** The last row whose message was shown in the browser. Its page is still open. */
let shown: Mistake | undefined;

/**
 * Makes a mistake, opens the page in a browser and acts, until the message appears everywhere. The page stays open for the next row
 * that is about the same page of the same guest book.
 */
async function expectInBrowser(row: Mistake): Promise<void> {
  const isOpen = shown?.edits === row.edits && shown.path === row.path;
  shown = undefined;
  if (!isOpen) await guestBook.leavePage(); // a page must not report the last mistake
  await guestBook.makeMistake(row.edits);
  const opened = isOpen ? guestBook.samePage() : await guestBook.newPage();
  const readers = (["overlay", "terminal", "console"] as const)
    .filter((place) => row.places.includes(place))
    .map((place) => ({ place, read: guestBook.readerOf(place, opened) }));
  if (isOpen)
    await opened.page.keyboard.press("Escape"); // closes the overlay
  else await opened.page.goto(row.path ?? "/");
  await row.act?.(opened.page);
  await waitUntil(async () => {
    for (const { place, read } of readers) requireMessage(row, place, await read());
  });
  shown = row;
}

/** @throws Error with what the message of a mistake lacks, and the message */
function requireMessage(row: Mistake, place: Place, text: string): void {
  const problems = problemsOf(text, row, place);
  if (problems.length > 0) throw new Error(`${problems.join("\n")}\n\n${text}`);
}

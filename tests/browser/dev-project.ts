/**
 * A project whose development server runs for all tests of dev.test.ts, with pages of Chromium.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";

export let project: TestProject;
export let dev: RunningServer;
export let users: BrowserUsers;
let browser: Browser;

/** The users of {@link openHome}. */
let homeUsers: BrowserUsers;
/** The home page of the test before, if it has restored its edits. */
let home: Page | undefined;

/** The files that the test has edited, once for each edit, and functions that restore what they were before it. */
export const restores: { readonly file: string; readonly restore: () => void }[] = [];

/** Starts the server before the tests of the file, and restores the edited files after each of them. */
export function useDevProject(): void {
  beforeAll(async () => {
    project = TestProject.copy();
    dev = await startDev(project.dir);
    browser = await launch();
    users = new BrowserUsers(browser, { baseURL: dev.address });
    homeUsers = new BrowserUsers(browser, { baseURL: dev.address });
  });

  afterEach(async ({ task }) => {
    await users.closeAll();
    if (restores.length > 0 || task.result?.state === "fail") await closeHome();
    await restoreAll();
    expect(takeProblems()).toEqual([]);
  });

  afterAll(async () => {
    await browser?.close();
    const code = await dev?.stop();
    project?.remove();
    expect(code).toBe(0);
  });
}

/** Returns the number of edits that the server has detected, and whether the last one has taken effect. */
export async function edits(): Promise<{ readonly count: number; readonly isSettled: boolean }> {
  const text = await (await fetch(`${dev.address}/__web/dev/@tsweb/edits`)).text();
  return { count: Number.parseInt(text, 10), isSettled: !text.endsWith("+") };
}

/** Waits until all detected edits have taken effect. The server may count two edits in quick succession as one. */
export async function waitForEdits(): Promise<void> {
  await expect.poll(async () => (await edits()).isSettled).toBe(true);
}

/** Edits files, and waits until the server has detected an edit, and all edits have taken effect. */
export async function waitForEffect(change: () => unknown): Promise<void> {
  await waitForEdits();
  const { count } = await edits();
  await change();
  await expect.poll(async () => (await edits()).count).toBeGreaterThan(count);
  await waitForEdits();
}

/** Restores all files, and waits for the effect. */
async function restoreAll(): Promise<void> {
  const pending = restores.splice(0).reverse();
  if (pending.length === 0) return;
  await waitForEffect(() => {
    for (const { restore } of pending) restore();
  });
}

/** Edits a file until the end of the test. Returns a function that restores it earlier, also from later edits of it. */
export function edit(file: string, search: string, replacement: string): () => void {
  const edited = { file, restore: project.edit(`src/${file}`, search, replacement) };
  restores.push(edited);
  return () => {
    const index = restores.indexOf(edited);
    if (index < 0) return; // it was restored, by an earlier edit of the file too
    const later = restores.splice(index).filter((other) => other.file !== file);
    restores.push(...later);
    edited.restore();
  };
}

/** Returns the problems that the browser has reported since the last call. */
export function takeProblems(): string[] {
  return [...users.problems.splice(0), ...homeUsers.problems.splice(0)];
}

/** Returns the home page, hydrated: that of the test before, if that has restored its edits, and has waited for the effect. */
export async function showHome(): Promise<Page> {
  await waitForEdits();
  home ??= await homeUsers.reusePage();
  if (!(await homeCount())) {
    await home.goto("/");
    await home.locator("#counter[data-hydrated=true]").waitFor();
  }
  return home;
}

/** Returns the home page as {@link showHome}, with another state of its view than that of a new page. */
export async function openHome(): Promise<Page> {
  if ((await homeCount()) !== "4") await closeHome(); // a page that was reloaded may be reloaded once more
  const page = await showHome();
  if ((await homeCount()) === "3") await page.click("#more");
  await page.fill("#name", "Ada");
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  return page;
}

/** Opens an empty page of another user, without the home page of the test before. */
export async function openPage(): Promise<Page> {
  await closeHome();
  return users.reusePage();
}

/** Returns the count that the home page shows, if it is open and hydrated, without an overlay. */
function homeCount(): Promise<string | null | undefined> | undefined {
  return home?.evaluate(shownCount).catch(() => null); // an error page may be about to reload
}

function shownCount(): string | null | undefined {
  if (document.querySelector("vite-error-overlay")) return null;
  return document.querySelector("#counter[data-hydrated=true] #count")?.textContent;
}

/** Closes the home page of the test before. */
export async function closeHome(): Promise<void> {
  home = undefined;
  await homeUsers.closeAll();
}

export const isSamePage = (page: Page) => page.evaluate(() => "isSamePage" in window);

export async function expectStateKept(page: Page): Promise<void> {
  expect(await page.textContent("#count")).toBe("4");
  expect(await page.inputValue("#name")).toBe("Ada");
  expect(await isSamePage(page)).toBe(true);
}

/** Returns a function that returns the output of the server since this call. */
export function recordOutput(): () => string {
  const { length } = dev.output();
  return () => dev.output().slice(length).replace(ANSI, "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with the control character ESC
const ANSI = /\u001b\[[0-9;]*m/g;

/** Returns the number of the first line of a file that contains a text. */
export function lineOf(file: string, text: string): number {
  return (
    project
      .read(`src/${file}`)
      .split("\n")
      .findIndex((line) => line.includes(text)) + 1
  );
}

/**
 * The actions of users of the accounts example, and checks of its pages.
 */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { styleOf } from "./chromium.ts";

/** The user that tests register. */
export const ada = { name: "Ada Lovelace", email: "ada@example.com", password: "analytical engine" };

/** Fills fields, by their ids. */
export async function fill(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await page.fill(`#${name}`, value);
}

/** Clicks a button. A button of a view is enabled once the view is hydrated. */
export async function submit(page: Page, label: string): Promise<void> {
  await page.getByRole("button", { name: label, exact: true }).click();
}

/** Registers a new user with the form, and waits for the account page. */
export async function register(page: Page, email: string): Promise<void> {
  await page.goto("/register");
  await fill(page, { ...ada, email });
  await submit(page, "Create account");
  await page.waitForURL("**/account");
}

/** Registers a new user and signs them in without a page, for tests of what follows. */
export async function signUp(page: Page, email: string): Promise<void> {
  const response = await page.request.post("/__web/rpc/register", { data: { args: { ...ada, email } } });
  expect(response.status()).toBe(200);
}

/** Signs in with the form on the current page, and waits for the account page. */
export async function signIn(page: Page, email: string): Promise<void> {
  await fill(page, { email, password: ada.password });
  await submit(page, "Sign in");
  await page.waitForURL("**/account");
}

/** Waits until a field is marked as invalid, has the focus, and is described by the message. */
export async function expectError(page: Page, field: string, message: string): Promise<void> {
  await page.locator(`#${field}-error`, { hasText: message }).waitFor();
  await page.locator(`#${field}[aria-invalid="true"]:focus`).waitFor();
  expect((await page.getAttribute(`#${field}`, "aria-describedby"))?.split(" ")).toContain(`${field}-error`);
}

/** Waits until the page shows an alert. */
export async function expectAlert(page: Page, text: string): Promise<void> {
  await page.getByRole("alert").filter({ hasText: text }).waitFor();
}

/** Returns the scripts of the application that a page loads, without those of the development server. */
export async function scriptsOf(page: Page): Promise<(string | null)[]> {
  const sources = await page.evaluate(() => Array.from(document.scripts, (each) => each.getAttribute("src")));
  return sources.filter((src) => !src?.startsWith("/__web/dev/"));
}

/** Presses Tab until an element has the focus. Every element on the way must have a visible focus. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 12; presses++) {
    await page.keyboard.press("Tab");
    const outline = await styleOf(page, ":focus", "outline-style");
    expect(outline).not.toBe("none");
    if ((await page.locator(`${selector}:focus`).count()) === 1) return;
  }
  throw new Error(`12 presses of Tab do not reach ${selector}.`);
}

/** Returns accessibility problems for screen readers and small screens. Runs in the page. */
export function findAccessibilityProblems(): string[] {
  const problems: string[] = [];
  const check = (isValid: unknown, problem: string) => isValid || problems.push(problem);
  check(document.documentElement.lang, "the page has no language");
  check(document.title.trim(), "the page has no title");
  check(document.querySelectorAll("h1").length === 1, "the page does not have exactly one h1");
  check(document.querySelectorAll("main").length === 1, "the page does not have exactly one main");
  check(document.documentElement.scrollWidth <= innerWidth, "the page is wider than the screen");
  for (const { labels, name } of document.querySelectorAll<HTMLInputElement>("input:not([type=hidden])")) {
    check(labels?.[0]?.textContent?.trim(), `the field ${name} has no label`);
  }
  for (const { alt, src } of document.images) check(alt !== null, `the image ${src} has no alt`);
  for (const element of document.querySelectorAll("a, button")) {
    check(element.textContent?.trim(), `${element.outerHTML} has no text`);
  }
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  check(new Set(ids).size === ids.length, `the ids are not unique: ${ids}`);
  for (const element of document.querySelectorAll("[aria-describedby]")) {
    for (const id of element.getAttribute("aria-describedby")?.split(" ") ?? []) {
      check(ids.includes(id), `aria-describedby refers to ${id}, which does not exist`);
    }
  }
  return problems;
}

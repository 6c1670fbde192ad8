/**
 * What a visitor of the accounts example does, step by step.
 */
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Who the tests register. */
export const ada = { name: "Ada Lovelace", email: "ada@example.com", password: "analytical engine" };

/** Fills fields, by their names. */
export async function fill(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await page.fill(`#${name}`, value);
}

/** Presses the button of the form. Waits until it can be pressed: until the script is there. */
export async function submit(page: Page, label: string): Promise<void> {
  await page.getByRole("button", { name: label, exact: true }).click();
}

/** Registers a new user by the form, and ends on their account's page. */
export async function register(page: Page, email: string): Promise<void> {
  await page.goto("/register");
  await fill(page, { ...ada, email });
  await submit(page, "Create account");
  await page.waitForURL("**/account");
}

/** Signs in by the form, from the page that shows it, and ends on the account's page. */
export async function signIn(page: Page, email: string): Promise<void> {
  await fill(page, { email, password: ada.password });
  await submit(page, "Sign in");
  await page.waitForURL("**/account");
}

/** Waits until a field is shown as wrong: with the message tied to it, announced, and with the focus. */
export async function expectError(page: Page, field: string, message: string): Promise<void> {
  await page.locator(`#${field}-error[role="alert"]`, { hasText: message }).waitFor();
  await page.locator(`#${field}[aria-invalid="true"]:focus`).waitFor();
  expect((await page.getAttribute(`#${field}`, "aria-describedby"))?.split(" ")).toContain(`${field}-error`);
}

/** Waits until a page says something that its visitor has to know. */
export async function expectAlert(page: Page, text: string): Promise<void> {
  await page.getByRole("alert").filter({ hasText: text }).waitFor();
}

/** Presses Tab until an element has the focus; each stop on the way must be seen to have it. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 12; presses++) {
    await page.keyboard.press("Tab");
    const outline = await page.locator(":focus").evaluate((element) => getComputedStyle(element).outlineStyle);
    expect(outline).not.toBe("none");
    if ((await page.locator(`${selector}:focus`).count()) === 1) return;
  }
  throw new Error(`Tab does not lead to ${selector}.`);
}

/** Finds what people with a screen reader or a small screen would stumble over. Runs in the page. */
export function findFlaws(): string[] {
  const flaws: string[] = [];
  const check = (isRight: unknown, flaw: string) => isRight || flaws.push(flaw);
  check(document.documentElement.lang, "the page has no language");
  check(document.title.trim(), "the page has no title");
  check(document.querySelectorAll("h1").length === 1, "there is not one h1");
  check(document.querySelectorAll("main").length === 1, "there is not one main");
  check(document.documentElement.scrollWidth <= innerWidth, "the page is wider than the screen");
  for (const { labels, name } of document.querySelectorAll("input")) {
    check(labels?.[0]?.textContent?.trim(), `the field ${name} has no label`);
  }
  for (const { alt, src } of document.images) check(alt !== null, `the image ${src} has no alt`);
  for (const element of document.querySelectorAll("a, button")) {
    check(element.textContent?.trim(), `${element.outerHTML} has no text`);
  }
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  check(new Set(ids).size === ids.length, `an id is used twice: ${ids}`);
  for (const element of document.querySelectorAll("[aria-describedby]")) {
    for (const id of element.getAttribute("aria-describedby")?.split(" ") ?? []) {
      check(ids.includes(id), `${id} describes, and is not there`);
    }
  }
  return flaws;
}

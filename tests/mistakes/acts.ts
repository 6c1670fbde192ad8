/** What users do in the guest book. */
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Only looks at the page, whose images, style sheets and scripts the browser requests. */
export async function show(): Promise<void> {}

/** Waits until the view is hydrated: before, its event handlers do nothing, and a form is sent without script. */
export async function waitForHydration(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate(hasHandlers)).toBe(true);
}

/** Runs in the page: returns whether an element has event handlers. */
function hasHandlers(): boolean {
  // Preact stores the event handlers of an element on it. The numbered properties of a form are its fields.
  const isHydrated = (element: Element) => Object.entries(element).some(([key, value]) => !/^\d+$/.test(key) && value);
  return [...document.querySelectorAll("form, input, button")].some(isHydrated);
}

/** Signs the guest book as soon as it is hydrated. */
export async function sign(page: Page, name = "Ada"): Promise<void> {
  await waitForHydration(page);
  await page.fill("input", name);
  await page.click("button");
}

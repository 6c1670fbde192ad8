/** What users do in the guest book. */
import type { Page } from "playwright-core";

/** Waits until the view is hydrated: before, its event handlers do nothing, and a form is sent without script. */
export async function waitForHydration(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    // Preact stores the event handlers of an element on it. The numbered properties of a form are its fields.
    const isHydrated = (element: Element) =>
      Object.entries(element).some(([key, value]) => !/^\d+$/.test(key) && value);
    return [...document.querySelectorAll("form, input, button")].some(isHydrated);
  });
}

/** Signs the guest book as soon as it is hydrated. */
export async function sign(page: Page, name = "Ada"): Promise<void> {
  await waitForHydration(page);
  await page.fill("input", name);
  await page.click("button");
}

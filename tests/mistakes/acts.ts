/** What users do in the guest book. */
import type { Page } from "playwright-core";

/** The options of conditions in a page: by default, Chromium draws a frame for each check. */
const POLLING = { polling: 50 };

/** Only looks at the page, whose images, style sheets and scripts the browser requests. */
export async function show(): Promise<void> {}

/** Waits until the view is hydrated: before, its event handlers do nothing, and a form is sent without script. */
export async function waitForHydration(page: Page): Promise<void> {
  await page.waitForFunction(
    () => {
      // Preact stores the event handlers of an element on it. The numbered properties of a form are its fields.
      const isHydrated = (element: Element) =>
        Object.entries(element).some(([key, value]) => !/^\d+$/.test(key) && value);
      return [...document.querySelectorAll("form, input, button")].some(isHydrated);
    },
    undefined,
    POLLING,
  );
}

/** Signs the guest book as soon as it is hydrated. */
export async function sign(page: Page, name = "Ada"): Promise<void> {
  await waitForHydration(page);
  await page.fill("input", name);
  await page.click("button");
}

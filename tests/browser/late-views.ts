/**
 * Views below the fold, which are hydrated when they come near the screen, or when the browser is idle: modules of an application, and
 * what its page does in Chromium.
 */
import type { Page } from "playwright-core";
import { expect } from "vitest";

const viewModule = (name: string, options: string) => `
  import { on_mount, state, view } from "tsweb/browser";
  export const ${name} = view(${options}({ start }: { start: number }) => {
    const shown = state({ count: start });
    on_mount(() => { document.documentElement.dataset.${name.toLowerCase()} = "yes"; });
    return <button id="${name.toLowerCase()}" type="button" onClick={() => shown.count++}>{shown.count}</button>;
  });`;

/** Files of an application, of which `late.server.tsx` has the pages `/views` and `/views/now`. */
export const LATE_VIEWS = {
  "src/late.server.tsx": `
    import { page } from "tsweb";
    import { Low } from "./low.tsx";
    import { Later } from "./later.tsx";
    import { Now } from "./now.tsx";
    export const views = page("/views", () => (
      <>
        <Now start={1} /><Later start={2} />
        <div style="height:5000px" />
        <Low start={3} /><Low start={4} />
      </>
    ));
    export const now = page("/views/now", () => <Now start={1} />);`,
  "src/now.tsx": viewModule("Now", ""),
  "src/later.tsx": viewModule("Later", '{ hydrate: "idle" }, '),
  "src/low.tsx": viewModule("Low", '{ hydrate: "visible" }, '),
};

/** Waits until a view is hydrated. */
export const isHydrated = (page: Page, name: string) =>
  page.locator(`html[data-${name}=yes]`).waitFor({ state: "attached" });

/** Returns a function that counts the requests of a page for a script, by the name of its source. */
export function countLoads(page: Page): (file: string) => number {
  const urls: string[] = [];
  page.on("request", (request) => urls.push(request.url()));
  return (file) => urls.filter((url) => new RegExp(`/${file}(-[\\w-]+)?\\.(js|tsx)(\\?|$)`).test(url)).length;
}

/** Checks that the page `/views` loads the script of a view when it comes near the screen, and that the view keeps its props. */
export async function expectLateHydration(page: Page, url: string): Promise<void> {
  const loads = countLoads(page);
  await page.goto(url);
  await isHydrated(page, "now");
  await isHydrated(page, "later");
  await page.click("#later");
  expect(await page.textContent("#later")).toBe("3");
  expect(loads("low")).toBe(0);
  expect(await page.locator("#low").allTextContents()).toEqual(["3", "4"]);
  await page.locator("#low").nth(1).scrollIntoViewIfNeeded();
  await isHydrated(page, "low");
  await page.locator("#low").nth(1).click();
  await expect.poll(() => page.locator("#low").allTextContents()).toEqual(["3", "5"]);
  expect(loads("low")).toBe(1);
}

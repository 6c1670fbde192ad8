/**
 * Chromium, the reference: driven by Playwright, as in tests/browser/.
 */
import type { BrowserContext, Page } from "playwright-core";
import { launch } from "../browser/chromium.ts";
import { AutomatedPage } from "./automated-page.ts";
import type { Engine } from "./engine.ts";

/** Starts a Chromium. */
export async function launchChromium(): Promise<Engine> {
  const browser = await launch({ fullBrowser: true });
  return {
    async newContext({ isScriptOn = true, hasTransitions = false } = {}) {
      const context: BrowserContext = await browser.newContext({
        javaScriptEnabled: isScriptOn,
        ...(hasTransitions ? { reducedMotion: "no-preference" } : {}),
      });
      context.setDefaultTimeout(60_000);
      return { newPage: async () => new ChromiumPage(await context.newPage()), close: () => context.close() };
    },
    close: () => browser.close(),
  };
}

class ChromiumPage extends AutomatedPage<Page> {
  async chooseFile(selector: string, path: string): Promise<void> {
    await this.tab.setInputFiles(selector, path);
  }
}

/**
 * Firefox, driven by puppeteer-core through WebDriver BiDi. Only its pages, keys and mouse are used: its element handles need a
 * script in the page, which does not run where scripts are off.
 */
import puppeteer, { type ElementHandle, type Page } from "puppeteer-core";
import { AutomatedPage } from "./automated-page.ts";
import type { Engine } from "./engine.ts";

/** The executable of Debian's package. */
export const FIREFOX = "/usr/bin/firefox-esr";

/** Starts a Firefox; a second one without scripts when it is needed, because the setting is one of the whole browser. */
export async function launchFirefox(): Promise<Engine> {
  const start = (prefs: Readonly<Record<string, boolean>>) =>
    puppeteer.launch({
      browser: "firefox",
      executablePath: FIREFOX,
      headless: true,
      protocolTimeout: 60_000,
      extraPrefsFirefox: prefs,
    });
  const withScript = await start({});
  let withoutScript: ReturnType<typeof start> | undefined;
  return {
    async newContext({ isScriptOn = true } = {}) {
      if (!isScriptOn) withoutScript ??= start({ "javascript.enabled": false });
      const browser = (await (isScriptOn ? null : withoutScript)) ?? withScript;
      const context = await browser.createBrowserContext();
      return { newPage: async () => new FirefoxPage(await context.newPage()), close: () => context.close() };
    },
    async close() {
      await withScript.close();
      await (await withoutScript)?.close();
    },
  };
}

class FirefoxPage extends AutomatedPage<Page> {
  async chooseFile(selector: string, path: string): Promise<void> {
    const field = await this.tab.evaluateHandle(`document.querySelector(${JSON.stringify(selector)})`);
    await (field as ElementHandle<HTMLInputElement>).uploadFile(path); // a field of files
  }
}

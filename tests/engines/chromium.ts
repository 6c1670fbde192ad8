/**
 * Chromium, the reference: driven by Playwright, as in tests/browser/.
 */
import type { BrowserContext, Page } from "playwright-core";
import { launch } from "../browser/chromium.ts";
import { type Engine, EnginePage, type PageScript, type ScriptArgument } from "./engine.ts";

/** Starts a Chromium. */
export async function launchChromium(): Promise<Engine> {
  const browser = await launch({ fullBrowser: true });
  return {
    async newContext({ isScriptOn = true } = {}) {
      const context: BrowserContext = await browser.newContext({ javaScriptEnabled: isScriptOn });
      context.setDefaultTimeout(60_000);
      return { newPage: async () => new ChromiumPage(await context.newPage()), close: () => context.close() };
    },
    close: () => browser.close(),
  };
}

class ChromiumPage extends EnginePage {
  readonly #page: Page;

  constructor(page: Page) {
    super();
    this.#page = page;
  }

  async open(url: string): Promise<void> {
    await this.#page.goto(url);
  }

  evaluate<A extends ScriptArgument[], T>(script: PageScript<A, T>, ...args: A): Promise<T> {
    return this.#page.evaluate(`(${script})(...${JSON.stringify(args)})`) as Promise<T>; // the result of the function
  }

  async back(): Promise<void> {
    await this.evaluate(() => history.back());
  }

  async chooseFile(selector: string, path: string): Promise<void> {
    await this.#page.setInputFiles(selector, path);
  }

  protected async dragMouse([start, ...points]: readonly { readonly x: number; readonly y: number }[]): Promise<void> {
    if (start) await this.#page.mouse.move(start.x, start.y);
    await this.#page.mouse.down();
    for (const { x, y } of points) await this.#page.mouse.move(x, y);
    await this.#page.mouse.up();
  }

  protected async sendKeys(text: string): Promise<void> {
    await this.#page.keyboard.type(text);
  }
}

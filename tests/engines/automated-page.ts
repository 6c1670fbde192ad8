/**
 * What the drivers of Chromium and Firefox have in common: Playwright and Puppeteer have methods of the same names.
 */
import { EnginePage, type PageScript, type ScriptArgument } from "./engine.ts";

/** A page of Playwright or of Puppeteer. */
interface AutomatedTab {
  close(): Promise<void>;
  goto(url: string): Promise<unknown>;
  evaluate(script: string): Promise<unknown>;
  readonly mouse: { move(x: number, y: number): Promise<void>; down(): Promise<void>; up(): Promise<void> };
  readonly keyboard: { type(text: string): Promise<void> };
}

/** A tab that Playwright or Puppeteer drives. */
export abstract class AutomatedPage<Tab extends AutomatedTab> extends EnginePage {
  protected readonly tab: Tab;

  constructor(tab: Tab) {
    super();
    this.tab = tab;
  }

  async open(url: string): Promise<void> {
    await this.tab.goto(url);
  }

  evaluate<A extends ScriptArgument[], T>(script: PageScript<A, T>, ...args: A): Promise<T> {
    return this.tab.evaluate(`(${script})(...${JSON.stringify(args)})`) as Promise<T>; // the result of the function
  }

  close(): Promise<void> {
    return this.tab.close();
  }

  async back(): Promise<void> {
    // Once the page has answered: `history.back()` alone can end its own evaluation.
    await this.evaluate(() => {
      setTimeout(() => history.back());
    });
  }

  protected moveMouse({ x, y }: { readonly x: number; readonly y: number }): Promise<void> {
    return this.tab.mouse.move(x, y);
  }

  protected async dragMouse([start, ...points]: readonly { readonly x: number; readonly y: number }[]): Promise<void> {
    const { mouse } = this.tab;
    if (start) await mouse.move(start.x, start.y);
    await mouse.down();
    for (const { x, y } of points) await mouse.move(x, y);
    await mouse.up();
  }

  protected async sendKeys(text: string): Promise<void> {
    await this.tab.keyboard.type(text);
  }
}

/**
 * Islands for one test file: a browser, a server of pages made by hand, and a page anew for each test.
 */
import type { Browser, Page } from "playwright-core";
import { launch } from "./chromium.ts";
import {
  buildScripts,
  documentOf,
  IslandServer,
  loadViews,
  MARK,
  type PlacedView,
  renderIsland,
  type Views,
} from "./island-server.ts";

/** A browser, and a server of pages. */
export class IslandsFixture {
  readonly server: IslandServer;
  readonly views: Views;
  readonly #browser: Browser;

  private constructor(server: IslandServer, views: Views, browser: Browser) {
    this.server = server;
    this.views = views;
    this.#browser = browser;
  }

  /** Starts it; whoever calls this calls {@link close}. */
  static async open(): Promise<IslandsFixture> {
    const [scripts, browser, views] = await Promise.all([buildScripts(), launch(), loadViews()]);
    const server = new IslandServer(scripts);
    await server.start();
    return new IslandsFixture(server, views, browser);
  }

  async close(): Promise<void> {
    await this.#browser.close();
    this.server.stop();
  }

  /**
   * Opens an empty page.
   *
   * @returns the page, and its uncaught errors and the refusals of its policy, as they come
   */
  async newPage(): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
    const page = await this.#browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.addInitScript(() => {
      addEventListener("error", ({ error }) => Object.assign(globalThis, { lastCause: String(error?.cause) }));
    });
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    return { page, errors };
  }

  /** Closes a page; nothing is held back any more. */
  async closePage(page: Page): Promise<void> {
    this.server.delayed.clear();
    await page.close();
  }

  /** Renders the views that are placed, each where the body says `{0}`, `{1}`, …, and gives the page's address. */
  pageOf(body: string, placed: readonly PlacedView[], options?: { base?: string; head?: string }): string {
    const rendered = placed.map(({ name, props = {}, from }, index) => {
      if (from) return `<!--${MARK}:${index}--><!--/${MARK}:${index}-->`; // not rendered by a server: it makes calls
      return renderIsland(this.views, { name, props }, index);
    });
    const html = body.replace(/\{(\d)\}/g, (_, index) => rendered[Number(index)] ?? "");
    return this.server.page(documentOf(html, placed, options));
  }
}

/** Lets a test change what a view exposes. */
export function changeView(page: Page, script: string): Promise<unknown> {
  return page.evaluate(`{ ${script} } new Promise((done) => setTimeout(done))`);
}

/** Gives what is inside an element. */
export function innerHtml(page: Page, selector: string): Promise<string> {
  return page.$eval(selector, (element) => element.innerHTML);
}

/** Waits until a view exposes itself by a name: its script is there. */
export async function waitForView(page: Page, name: string): Promise<void> {
  await page.waitForFunction((key) => key in globalThis, name);
}

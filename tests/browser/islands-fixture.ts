/**
 * The fixture of tests of islands: a browser and an {@link IslandServer}, shared by a test file.
 */
import type { Browser, Page } from "playwright-core";
import { BrowserUsers } from "#test/browser-users";
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

/** A browser and a server of pages with islands. */
export class IslandsFixture {
  readonly server: IslandServer;
  readonly views: Views;
  readonly #browser: Browser;
  readonly #users: BrowserUsers;
  #page: Page | undefined;
  /** Of the page, since it was opened. */
  #errors: string[] = [];

  private constructor(server: IslandServer, views: Views, browser: Browser) {
    this.server = server;
    this.views = views;
    this.#browser = browser;
    this.#users = new BrowserUsers(browser, {});
  }

  /** Starts browser and server. The caller calls {@link close}. */
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
   * Opens an empty page, which may be that of an earlier test.
   *
   * @returns the page, and its uncaught errors and violations of the content security policy, added as they occur
   */
  async newPage(): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
    const page = await this.#users.reusePage();
    const errors: string[] = [];
    this.#errors = errors;
    if (page !== this.#page) {
      this.#page = page;
      page.on("pageerror", (error) => this.#errors.push(error.message));
      page.on("console", (message) => message.type() === "error" && this.#errors.push(message.text()));
      await page.addInitScript(() => {
        addEventListener("error", ({ error }) => Object.assign(globalThis, { lastCause: String(error?.cause) }));
      });
    }
    return { page, errors };
  }

  /** Closes the page of the test, and ends all delays of scripts. */
  async closePage(): Promise<void> {
    this.server.delayed.clear();
    await this.#users.closeAll();
  }

  /** Serves a page with views in the place of `{0}`, `{1}`, … in the body. Returns its URL. */
  pageOf(body: string, placedViews: readonly PlacedView[], options?: { base?: string; head?: string }): string {
    const rendered = placedViews.map(({ name, props = {}, from }, index) => {
      if (from) return `<!--${MARK}:${index}--><!--/${MARK}:${index}-->`; // rendered in the browser only, because it makes calls
      return renderIsland(this.views, { name, props }, index);
    });
    const html = body.replace(/\{(\d+)\}/g, (_, index) => rendered[Number(index)] ?? "");
    return this.server.page(documentOf(html, placedViews, options));
  }
}

/** Runs a script in the page that changes the exposed state of views, and waits until the change is rendered. */
export function changeView(page: Page, script: string): Promise<unknown> {
  return page.evaluate(`{ ${script} } new Promise((done) => setTimeout(done))`);
}

/** Returns the inner HTML of an element. */
export function innerHtml(page: Page, selector: string): Promise<string | undefined> {
  return page.evaluate((selector) => document.querySelector(selector)?.innerHTML, selector);
}

/**
 * Waits until a view is hydrated and has exposed itself under a name. `waitForFunction` would load a second copy of Playwright's
 * script into the document, which costs as much as the document.
 */
export async function waitForView(page: Page, name: string): Promise<void> {
  await page.evaluate(async (key) => {
    while (!(key in globalThis)) await new Promise((resolve) => setTimeout(resolve, 10));
  }, name);
}

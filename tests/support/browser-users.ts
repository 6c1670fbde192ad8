/**
 * Users in a real browser, each with separate cookies, and the problems that the browser reports.
 */
import { setTimeout } from "node:timers/promises";
import type { Browser, BrowserContext, BrowserContextOptions, ConsoleMessage, Page } from "playwright-core";

/**
 * Returns whether a console message is the browser's report of a 4xx response to a call, a form or the page itself. Tests
 * cause these on purpose and check their status. A 4xx response to a script or a style sheet is a problem.
 */
function isExpectedFailure(message: ConsoleMessage, page: Page): boolean {
  const { url } = message.location();
  const { pathname } = new URL(url, page.url());
  const isExpected = url === page.url() || /^\/__web\/(rpc|form)\//.test(pathname);
  return isExpected && /^Failed to load resource: the server responded with a status of 4\d\d /.test(message.text());
}

/** The users of one test file. */
export class BrowserUsers {
  readonly #browser: Browser;
  readonly #options: BrowserContextOptions;
  readonly #contexts: BrowserContext[] = [];
  /**
   * Uncaught errors of pages, and errors and warnings in their consoles, violations of the content security policy
   * included.
   */
  readonly problems: string[] = [];

  /** @param options the options of every user, for example the site's address as `baseURL` */
  constructor(browser: Browser, options: BrowserContextOptions) {
    this.#browser = browser;
    this.#options = options;
  }

  /** Opens a page of a new user, without cookies. */
  async newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({ ...this.#options, ...options });
    context.setDefaultTimeout(60_000); // generous, for a machine under load
    this.#contexts.push(context);
    const page = await context.newPage();
    page.on("pageerror", (error) => this.problems.push(`thrown: ${error.stack ?? error.message}`));
    page.on("console", (message) => {
      const isProblem = message.type() === "error" || message.type() === "warning";
      if (!isProblem || isExpectedFailure(message, page)) return;
      const isResponse = message.text().includes("the server responded");
      this.problems.push(`console: ${message.text()}${isResponse ? ` ${message.location().url}` : ""}`);
    });
    return page;
  }

  /**
   * Closes the pages of all users. Sometimes Chromium does not respond when it closes a page that is about to reload;
   * that page is closed with the browser.
   */
  async closeAll(): Promise<void> {
    const closing = this.#contexts.splice(0).map((context) => context.close());
    await Promise.race([Promise.all(closing), setTimeout(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  }
}

const CLOSE_TIMEOUT_MS = 15_000;

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
  /** The pages of {@link reusePage}, by their options: those that tests have left, and those that this test uses. */
  readonly #kept = new Map<string, Page[]>();
  readonly #reused: { readonly key: string; readonly page: Page }[] = [];
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
   * Returns an empty page of a new user, without cookies, in a profile that {@link closeAll} keeps for later tests: it costs a third
   * of {@link newPage}. The history of the page and the browser's cache are kept too, and what a test adds to a page or its context
   * except routes. So a test that adds scripts, headers or permissions calls {@link newPage}; one that adds a device, such as an
   * authenticator, may also remove it when it ends.
   */
  async reusePage(options: BrowserContextOptions = {}): Promise<Page> {
    const key = JSON.stringify(options);
    const page = this.#kept.get(key)?.pop() ?? (await this.newPage(options));
    const index = this.#contexts.indexOf(page.context());
    if (index >= 0) this.#contexts.splice(index, 1);
    this.#reused.push({ key, page });
    return page;
  }

  /**
   * Closes the pages of all users, and empties those that are reused. Sometimes Chromium does not respond when it closes a page
   * that is about to reload; that page is closed with the browser.
   */
  async closeAll(): Promise<void> {
    const closing = this.#contexts.splice(0).map((context) => context.close());
    const emptying = this.#reused.splice(0).map(async ({ key, page }) => {
      try {
        await emptyPage(page);
        this.#kept.set(key, [...(this.#kept.get(key) ?? []), page]);
      } catch {
        await page.context().close(); // the test has closed the page, or has stopped its browser
      }
    });
    const ending = Promise.all([...closing, ...emptying]);
    await Promise.race([ending, setTimeout(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  }
}

/** Ends the document of a page, and removes what its test has left: other pages of its user, cookies, storage and routes. */
async function emptyPage(page: Page): Promise<void> {
  const context = page.context();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  for (const other of context.pages()) if (other !== page) await other.close();
  if (page.url().startsWith("http")) await page.evaluate(clearStorage).catch(() => undefined); // the document may be replaced
  await page.goto("about:blank");
  await context.clearCookies();
  await context.setOffline(false);
}

function clearStorage(): void {
  sessionStorage.clear();
  localStorage.clear();
}

const CLOSE_TIMEOUT_MS = 15_000;

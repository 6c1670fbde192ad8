/**
 * Visitors in a real browser, each with cookies of their own, and what the browser had to complain of.
 */
import { setTimeout } from "node:timers/promises";
import type { Browser, BrowserContext, BrowserContextOptions, ConsoleMessage, Page } from "playwright-core";

/**
 * Answers whether a message is the browser's own word on a refusal: of a call, or of the page itself.
 * A test provokes those and looks at their status; a script or a style sheet that is refused is a fault.
 */
function isRefusal(message: ConsoleMessage, page: Page): boolean {
  const { url } = message.location();
  const isExpected = url === page.url() || new URL(url, page.url()).pathname.startsWith("/__web/rpc/");
  return isExpected && /^Failed to load resource: the server responded with a status of 4\d\d /.test(message.text());
}

/** The visitors of one test file. */
export class BrowserUsers {
  readonly #browser: Browser;
  readonly #options: BrowserContextOptions;
  readonly #contexts: BrowserContext[] = [];
  /**
   * What pages threw, what their consoles said as errors or warnings, violations of the content
   * policy among them.
   */
  readonly problems: string[] = [];

  /** @param options for every visitor: the site's address as `baseURL`, say */
  constructor(browser: Browser, options: BrowserContextOptions) {
    this.#browser = browser;
    this.#options = options;
  }

  /** Gives the page of a new visitor, who is unknown to the site. */
  async newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({ ...this.#options, ...options });
    context.setDefaultTimeout(30_000); // a busy machine
    this.#contexts.push(context);
    const page = await context.newPage();
    page.on("pageerror", (error) => this.problems.push(`thrown: ${error.stack ?? error.message}`));
    page.on("console", (message) => {
      const isComplaint = message.type() === "error" || message.type() === "warning";
      if (isComplaint && !isRefusal(message, page)) this.problems.push(`console: ${message.text()}`);
    });
    return page;
  }

  /**
   * Sends all of them home. Now and then Chromium never answers when it is to close what is about to load
   * anew: that one then goes with the browser.
   */
  async closeAll(): Promise<void> {
    const closing = this.#contexts.splice(0).map((context) => context.close());
    await Promise.race([Promise.all(closing), setTimeout(LEAVE_MS, undefined, { ref: false })]);
  }
}

const LEAVE_MS = 15_000;

/**
 * The README's guest book in a real browser.
 */
import type { Browser, Page, Response } from "playwright-core";

/** An open page, with its recorded problems, document loads and scripts. */
export interface GuestBookPage {
  readonly page: Page;
  /** The errors that the page threw, and the errors and warnings in its console. */
  readonly problems: string[];
  /** Returns how often a document was loaded: 1 unless the page was reloaded. */
  loads(): number;
  /** Returns the URLs of the scripts that contain a copy of Preact. To be called before the page is reloaded. */
  preactScripts(): Promise<string[]>;
  close(): Promise<void>;
}

/** A string that Preact's code contains once, minified or not. */
const PREACT = "http://www.w3.org/1998/Math/MathML";

/** Browsers request an icon, which this application does not have. */
const ICON = "/favicon.ico";

/** The browser's message for a rejected call, which some tests cause on purpose. */
const REJECTED_CALL = "Failed to load resource: the server responded with a status of 422";

/** Opens the guest book, and waits until the page has loaded everything. */
export async function openGuestBook(browser: Browser, address: string): Promise<GuestBookPage> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const problems: string[] = [];
  const scripts: Response[] = [];
  let loads = 0;
  page.on("pageerror", (error) => problems.push(`thrown: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    if (message.location().url.endsWith(ICON) || message.text().startsWith(REJECTED_CALL)) return;
    problems.push(`console: ${message.text()}`);
  });
  page.on("domcontentloaded", () => loads++);
  page.on("response", (response) => {
    if (response.request().resourceType() === "script") scripts.push(response);
  });
  await page.goto(address, { waitUntil: "networkidle" });
  return {
    page,
    problems,
    loads: () => loads,
    async preactScripts() {
      const texts = await Promise.all(
        scripts.map(async (script) => ({ url: script.url(), text: await script.text() })),
      );
      return [...new Set(texts.filter(({ text }) => text.includes(PREACT)).map(({ url }) => url))];
    },
    close: () => context.close(),
  };
}

/** Writes a name into the guest book, and waits until the page shows it first. */
export async function signAs(page: Page, name: string): Promise<void> {
  await page.getByLabel("Your name").fill(name);
  await page.getByRole("button", { name: "Sign" }).click();
  await page.locator("li:first-child", { hasText: name }).waitFor();
}

/** Submits an empty name, and returns the error that the page shows. */
export async function submitEmptyName(page: Page): Promise<string> {
  await page.getByLabel("Your name").fill(" ");
  await page.getByRole("button", { name: "Sign" }).click();
  const alert = page.getByRole("alert").filter({ hasText: /\w/ });
  return (await alert.textContent()) ?? "";
}

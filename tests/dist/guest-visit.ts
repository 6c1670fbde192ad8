/**
 * A visit to the guest book of the README in a real browser.
 */
import type { Browser, Page, Response } from "playwright-core";

/** A visitor's page, and what there was to notice about it. */
export interface Visit {
  readonly page: Page;
  /** What the page threw, and what its console said as an error or a warning. */
  readonly complaints: string[];
  /** How often a document was loaded: 1, unless something reloads the page. */
  loads(): number;
  /** The addresses of the scripts that hold a copy of Preact; to be asked before anything reloads the page. */
  preacts(): Promise<string[]>;
  close(): Promise<void>;
}

/** In Preact's own code, once, minified or not. */
const PREACT = "http://www.w3.org/1998/Math/MathML";

/** A browser asks by itself for an icon, which this application has not. */
const ICON = "/favicon.ico";

/** What the browser says by itself when a call is refused, as some are here on purpose. */
const REFUSED = "Failed to load resource: the server responded with a status of 422";

/** Opens the guest book, and waits until all that belongs to the page has arrived. */
export async function visit(browser: Browser, address: string): Promise<Visit> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  const scripts: Response[] = [];
  let loads = 0;
  page.on("pageerror", (error) => complaints.push(`thrown: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    if (message.location().url.endsWith(ICON) || message.text().startsWith(REFUSED)) return;
    complaints.push(`console: ${message.text()}`);
  });
  page.on("domcontentloaded", () => loads++);
  page.on("response", (response) => {
    if (response.request().resourceType() === "script") scripts.push(response);
  });
  await page.goto(address, { waitUntil: "networkidle" });
  return {
    page,
    complaints,
    loads: () => loads,
    async preacts() {
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

/** Signs with no name, and gives what the page says to it. */
export async function refusal(page: Page): Promise<string> {
  await page.getByLabel("Your name").fill(" ");
  await page.getByRole("button", { name: "Sign" }).click();
  const alert = page.getByRole("alert").filter({ hasText: /\w/ });
  return (await alert.textContent()) ?? "";
}

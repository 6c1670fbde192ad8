/**
 * Finds and starts the Chromium of the browser tests.
 */
import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { IS_MATRIX } from "#test/matrix";

const EXECUTABLES = [
  "/usr/lib/chromium/chromium",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
] as const;

/**
 * Chromium's headless shell: engine and network without a user interface. A page needs a third of the processor time of one in
 * the full browser. But it keeps no page for Back, whatever its options, so tests of Back and of leaving a page use the full
 * browser, and in `npm run matrix -- browser` all do. Debian's start script is not used, because Chromium would outlive it when
 * it is killed.
 */
const HEADLESS_SHELLS = ["/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium-headless-shell"] as const;

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
] as const;

/** The pages of a context share a process. Without it, each page starts two: one for about:blank, and one for the site. */
const SHARED_PROCESS = "--renderer-process-limit=1";

/**
 * What the full browser does not use. Chromium reads only the last list of its command line, so this one contains Playwright's.
 * The first three are the menu of the address bar: each window loads it in a process of its own, a third of what a page costs.
 */
const UNUSED_FEATURES = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxFullPopup",
  "WebUIOmniboxAimPopup",
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
] as const;

/**
 * Returns the path of the Chromium to test with: `CHROMIUM_PATH`, or the first candidate that exists.
 *
 * @throws Error with installation instructions if there is none, because browser tests are never skipped
 */
function chromiumPath(candidates: readonly string[]): string {
  const configured = process.env.CHROMIUM_PATH;
  if (configured !== undefined) {
    if (existsSync(configured)) return configured;
    throw new Error(`CHROMIUM_PATH is "${configured}", but this file does not exist. Set it to Chromium's executable.`);
  }
  const existing = candidates.find((path) => existsSync(path));
  if (existing !== undefined) return existing;
  throw new Error(
    "The browser tests need Chromium. Install it (Debian and Ubuntu: apt-get install chromium) " +
      `or set CHROMIUM_PATH to its executable. Looked for ${candidates.join(", ")}.`,
  );
}

/** The options of {@link launch}. */
export interface LaunchOptions {
  /** Uses the full desktop browser, which keeps pages for Back. Default: only in the matrix. */
  readonly fullBrowser?: boolean;
  /** Gives each page a process of its own, so that a crash ends one page. Default: the pages of a context share one. */
  readonly processPerPage?: boolean;
}

/** The browsers of this process by their options, which its test files use one after the other. */
const shared = new Map<string, Promise<Browser>>();

/** Chromium draws a frame for each sixtieth of a second of a transition. A test of transitions sets the preference that they need. */
const NO_MOTION: BrowserContextOptions = { reducedMotion: "reduce" };

/** How long the pages of a test file may take to close. */
const CLOSE_TIMEOUT_MS = 20_000;

/**
 * Returns a headless Chromium in which each context is a profile of its own. The caller closes it, which only closes the contexts
 * that were created with it: the next caller gets the same process, which ends with that of the tests.
 *
 * @example
 * const browser = await launch();
 * try { … } finally { await browser.close(); }
 */
export async function launch({
  fullBrowser = IS_MATRIX,
  processPerPage = false,
}: LaunchOptions = {}): Promise<Browser> {
  const kind = JSON.stringify({ fullBrowser, processPerPage });
  let starting = shared.get(kind);
  if (!starting || !(await starting).isConnected()) {
    const args = processPerPage ? [...ARGUMENTS] : [...ARGUMENTS, SHARED_PROCESS];
    starting = fullBrowser
      ? start(EXECUTABLES, [...args, `--disable-features=${UNUSED_FEATURES.join()}`])
      : start([...HEADLESS_SHELLS, ...EXECUTABLES], args);
    shared.set(kind, starting);
  }
  const browser = await starting;
  const contexts: BrowserContext[] = [];
  const newContext = async (options?: BrowserContextOptions) => {
    const context = await browser.newContext({ ...NO_MOTION, ...options });
    contexts.push(context);
    return context;
  };
  const close = () => closeContexts(browser, contexts);
  return Object.create(browser, { newContext: { value: newContext }, close: { value: close } });
}

function start(candidates: readonly string[], args: string[]): Promise<Browser> {
  const ignoreDefaultArgs = ["--disable-back-forward-cache"]; // users have this cache
  return chromium.launch({ executablePath: chromiumPath(candidates), args, ignoreDefaultArgs });
}

/** Closes contexts of a browser, and the browser itself if it does not close them in time. */
async function closeContexts(browser: Browser, contexts: readonly BrowserContext[]): Promise<void> {
  const closing = Promise.all(contexts.map((context) => context.close())).then(() => true);
  const isClosed = await Promise.race([closing, wait(CLOSE_TIMEOUT_MS, false, { ref: false })]);
  if (!isClosed) await browser.close();
}

/** Runs a part of a test with users of a full browser, which keeps pages for Back. */
export async function withFullBrowser(
  options: BrowserContextOptions,
  use: (users: BrowserUsers) => Promise<void>,
): Promise<void> {
  const browser = await launch({ fullBrowser: true });
  const users = new BrowserUsers(browser, options);
  try {
    await use(users);
    await users.closeAll();
    expect(users.problems).toEqual([]);
  } finally {
    await browser.close();
  }
}

/**
 * Goes one step back in the history of a page whose scripts run, once the page has answered: `history.back()` alone can
 * end its own evaluation. Does not wait for the page that is then shown.
 */
export async function startBack(page: Page): Promise<void> {
  await page.evaluate(() => {
    setTimeout(() => history.back());
  });
}

/**
 * Goes one step back in the history of a page whose scripts run, and waits until the page that is then shown is
 * complete. `page.goBack()` waits for a load, and a kept page is not loaded.
 */
export async function goBack(page: Page): Promise<void> {
  const isShown = page.waitForEvent("framenavigated", (frame) => frame === page.mainFrame());
  await Promise.all([isShown, startBack(page)]);
  await page.waitForFunction(() => document.readyState === "complete");
}

/**
 * Returns a computed style of the first element that a selector matches, at once. It only evaluates code in the page, as tests do
 * wherever they can: `waitForSelector`, `waitForFunction`, `$eval` and `locator.evaluate` load a second copy of Playwright's script
 * into the document, which costs half as much as the document.
 *
 * @param property for example `border-top-color`
 */
export function styleOf(page: Page, selector: string, property: string): Promise<string> {
  const read = ([selector, property]: readonly [string, string]) => {
    const element = document.querySelector(selector);
    if (!element) throw new Error(`No element matches ${selector}`);
    return getComputedStyle(element).getPropertyValue(property);
  };
  return page.evaluate(read, [selector, property] as const);
}

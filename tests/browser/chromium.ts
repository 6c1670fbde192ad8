/**
 * Finds and starts the Chromium that the browser tests share.
 */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const USUAL_PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
] as const;

/**
 * Chromium's engine and network without the window around them: in one with a window a visitor costs six
 * times the processor's time, though nobody sees it. Debian's own start script would outlive a kill.
 */
const SHELLS = ["/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium-headless-shell"] as const;

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
] as const;

/**
 * Gives the path of the Chromium to test with: `CHROMIUM_PATH`, else the first that is there.
 *
 * @throws Error that says what to install, when there is none; a browser test never passes unrun
 */
function chromiumPath(places: readonly string[]): string {
  const asked = process.env.CHROMIUM_PATH;
  if (asked !== undefined) {
    if (existsSync(asked)) return asked;
    throw new Error(`CHROMIUM_PATH is "${asked}", and there is no such file.`);
  }
  const found = places.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Error(
    "The browser tests need Chromium. Install it (Debian and Ubuntu: apt-get install chromium) " +
      `or set CHROMIUM_PATH to its executable. Looked in ${places.join(", ")}.`,
  );
}

/** How a Chromium is started. */
export interface LaunchOptions {
  /** With all of a desktop's browser, as people have it; else without its window where that is installed. */
  readonly whole?: boolean;
}

/**
 * Starts a headless Chromium with a profile of its own; whoever calls it closes it.
 *
 * @example
 * const browser = await launch();
 * try { … } finally { await browser.close(); }
 */
export function launch({ whole = false }: LaunchOptions = {}): Promise<Browser> {
  const executablePath = chromiumPath(whole ? USUAL_PLACES : [...SHELLS, ...USUAL_PLACES]);
  return chromium.launch({ executablePath, args: [...ARGUMENTS] });
}

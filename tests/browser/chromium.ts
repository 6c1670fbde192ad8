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
 * Gives the path of the Chromium to test with: `CHROMIUM_PATH`, else the first of the usual places.
 *
 * @throws Error that says what to install, when there is none; a browser test never passes unrun
 */
function chromiumPath(): string {
  const asked = process.env.CHROMIUM_PATH;
  if (asked !== undefined) {
    if (existsSync(asked)) return asked;
    throw new Error(`CHROMIUM_PATH is "${asked}", and there is no such file.`);
  }
  const found = USUAL_PLACES.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Error(
    "The browser tests need Chromium. Install it (Debian and Ubuntu: apt-get install chromium) " +
      `or set CHROMIUM_PATH to its executable. Looked in ${USUAL_PLACES.join(", ")}.`,
  );
}

/**
 * Starts a headless Chromium with a profile of its own; whoever calls it closes it.
 *
 * @example
 * const browser = await launch();
 * try { … } finally { await browser.close(); }
 */
export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: [...ARGUMENTS] });
}

/**
 * Finds and starts the Chromium of the browser tests.
 */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const EXECUTABLES = [
  "/usr/lib/chromium/chromium",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
] as const;

/**
 * Chromium's headless shell: engine and network without a user interface. A file of tests needs 10 seconds of processor time less
 * than with the full browser: a third to a half. But it keeps no page for Back, whatever its options. So tests of sign-in, of Back and
 * of leaving a page use the full browser. Debian's start script is not used, because Chromium would outlive it when it is killed.
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
  /** Uses the full desktop browser, which keeps pages for Back. Default: the headless shell, if it is installed. */
  readonly fullBrowser?: boolean;
}

/**
 * Starts a headless Chromium with a new profile. The caller closes it.
 *
 * @example
 * const browser = await launch();
 * try { … } finally { await browser.close(); }
 */
export function launch({ fullBrowser = false }: LaunchOptions = {}): Promise<Browser> {
  const executablePath = chromiumPath(fullBrowser ? EXECUTABLES : [...HEADLESS_SHELLS, ...EXECUTABLES]);
  return chromium.launch({
    executablePath,
    args: [...ARGUMENTS],
    ignoreDefaultArgs: ["--disable-back-forward-cache"], // users have this cache
  });
}

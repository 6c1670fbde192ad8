// Edits of a view in Chromium: from the saved file to the changed page.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { chromium } from "playwright-core";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const ARGUMENTS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking".split(" ");
const TIMEOUT_MS = 20_000;

/** The pause between two edits: a file watcher may merge edits that are closer. */
const PAUSE_MS = 300;

/** Starts Chromium, with the options of Playwright. */
export function launchChromium(options = {}) {
  const executablePath = process.env.CHROMIUM_PATH ?? CHROMIUM.find((path) => existsSync(path));
  if (!executablePath)
    throw new Error(`Chromium was not found (${CHROMIUM.join(", ")}). Install it, or set CHROMIUM_PATH.`);
  return chromium.launch({ executablePath, args: ARGUMENTS, ...options });
}

/**
 * Opens a page of a development server, and edits a view of it.
 *
 * @param edit `url`, `file`, `pattern` of the text to replace, `label(round)`: its replacement, which the page shows
 * @returns the time until the `load` event, and of each edit until the page shows it, in milliseconds
 */
export async function measureEdits(browser, { url, file, pattern, label, rounds }) {
  const page = await browser.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  try {
    const opened = performance.now();
    await page.goto(url);
    const first = performance.now() - opened;
    await page.waitForLoadState("networkidle"); // the views are hydrated, and the page receives updates
    const edits = [];
    for (let round = 1; round <= rounds; round++) {
      edits.push(await measureEdit(page, { file, pattern, label: label(round) }));
      await setTimeout(PAUSE_MS);
    }
    return { first, edits };
  } finally {
    await page.close();
  }
}

async function measureEdit(page, { file, pattern, label }) {
  const before = readFileSync(file, "utf8");
  const after = before.replace(pattern, label);
  if (after === before) throw new Error(`${file} has no text like ${pattern}.`);
  const shownAt = page.evaluate(timeOfAppearance, [label, TIMEOUT_MS]);
  await page.evaluate(() => 0); // the observer is installed by now
  const savedAt = Date.now();
  writeFileSync(file, after);
  return (await shownAt) - savedAt;
}

/** Runs in the page: resolves with the time at which the label appeared. */
function timeOfAppearance([label, timeoutMs]) {
  return new Promise((resolve, reject) => {
    const check = () => document.body.textContent.includes(label) && resolve(Date.now());
    new MutationObserver(check).observe(document.body, { subtree: true, childList: true, characterData: true });
    window.setTimeout(() => reject(new Error(`"${label}" did not appear on the page.`)), timeoutMs);
    check();
  });
}

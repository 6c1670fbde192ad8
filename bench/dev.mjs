// Development in Chromium: the time from `tsweb dev` to the first page, and from a saved edit to the changed page.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { chromium } from "playwright-core";
import { copyAccounts } from "./lib/accounts.mjs";
import { root } from "./lib/app.mjs";
import { median, spread, table } from "./lib/numbers.mjs";
import { startServer } from "./lib/processes.mjs";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const ARGUMENTS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking".split(" ");
const TIMEOUT_MS = 20_000;

/** The pause between two edits: a file watcher may merge edits that are closer. */
const PAUSE_MS = 300;

export async function dev({ rounds }) {
  const executablePath = process.env.CHROMIUM_PATH ?? CHROMIUM.find((path) => existsSync(path));
  if (!executablePath)
    throw new Error(`Chromium was not found (${CHROMIUM.join(", ")}). Install it, or set CHROMIUM_PATH.`);
  const { dir, remove } = copyAccounts();
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  try {
    const { ready, first, edits } = await measureIn(await browser.newPage(), dir, rounds);
    const rows = [
      ["`tsweb dev` until it listens", ready.toFixed(0)],
      ["the first page until its `load` event, cold", first.toFixed(0)],
      [
        `a saved view until the page shows it (${edits.length} edits; the first: ${edits[0].toFixed(0)})`,
        spread(edits, 0),
      ],
    ];
    return `## Development\n\nThe accounts example in Chromium, in ms: the median, with minimum and maximum.\n\n${table(["", "ms"], rows)}\n\nMedian of an edit: ${median(edits).toFixed(0)} ms.`;
  } finally {
    await browser.close();
    remove();
  }
}

async function measureIn(page, dir, rounds) {
  page.setDefaultTimeout(TIMEOUT_MS);
  const start = performance.now();
  const env = { NODE_ENV: "development", WEB_ENV: "development", HOST: "127.0.0.1", PORT: "0" };
  // Not pinned to one core: Vite uses several, and the browser runs beside it.
  const server = await startServer([join(root, "bin", "tsweb.js"), "dev", dir], { cwd: dir, env, core: null });
  try {
    const ready = performance.now() - start;
    const opened = performance.now();
    await page.goto(`${server.address}/passkey`);
    const first = performance.now() - opened;
    await page.waitForLoadState("networkidle"); // the views are hydrated, and the page receives updates
    const edits = [];
    for (let round = 1; round <= rounds; round++) {
      edits.push(await measureEdit(page, dir, `Use a passkey, edit ${round}`));
      await setTimeout(PAUSE_MS);
    }
    return { ready, first, edits };
  } finally {
    await server.end();
  }
}

/** Saves a new label of the button of a view. Returns the time until the page shows it, in milliseconds. */
async function measureEdit(page, dir, label) {
  const file = join(dir, "src", "passkeys", "use-passkey.tsx");
  const before = readFileSync(file, "utf8");
  const after = before.replace(/label="Use a passkey[^"]*"/, `label="${label}"`);
  if (after === before) throw new Error("examples/accounts/src/passkeys/use-passkey.tsx has no label to edit.");
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

// Development in Chromium: from `tsweb dev` to the first page, and from a saved edit to the screen.
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
const LATEST_MS = 20_000;

/** Nobody saves twice within it; what watches the files may take two such edits for one. */
const BETWEEN_MS = 300;

export async function dev({ rounds = 10 } = {}) {
  const executablePath = process.env.CHROMIUM_PATH ?? CHROMIUM.find((path) => existsSync(path));
  if (!executablePath) throw new Error(`No Chromium in ${CHROMIUM.join(", ")}: install one, or set CHROMIUM_PATH.`);
  const { dir, remove } = copyAccounts();
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  try {
    const { ready, first, edits } = await measureIn(await browser.newPage(), dir, rounds);
    const rows = [
      ["`tsweb dev`, to where it listens", ready.toFixed(0)],
      ["then the first page, cold, to its `load`", first.toFixed(0)],
      [
        `a view's file saved, to the screen (${edits.length} edits; the first: ${edits[0].toFixed(0)})`,
        spread(edits, 0),
      ],
    ];
    return `## Development\n\nThe accounts example in Chromium; in ms, where there are several the median, and the least and the most.\n\n${table(["", "ms"], rows)}\n\nMedian of an edit: ${median(edits).toFixed(0)} ms.`;
  } finally {
    await browser.close();
    remove();
  }
}

async function measureIn(page, dir, rounds) {
  page.setDefaultTimeout(LATEST_MS);
  const start = performance.now();
  const env = { NODE_ENV: "development", WEB_ENV: "development", HOST: "127.0.0.1", PORT: "0" };
  // Not pinned: the build tool works on several cores, and the browser beside it.
  const server = await startServer([join(root, "bin", "tsweb.js"), "dev", dir], { cwd: dir, env, core: null });
  try {
    const ready = performance.now() - start;
    const opened = performance.now();
    await page.goto(server.address);
    const first = performance.now() - opened;
    await page.waitForLoadState("networkidle"); // the views are alive, and the page hears of edits
    const edits = [];
    for (let round = 1; round <= rounds; round++) {
      edits.push(await editToScreen(page, dir, `Sign in, edit ${round}`));
      await setTimeout(BETWEEN_MS);
    }
    return { ready, first, edits };
  } finally {
    await server.end();
  }
}

/** Saves another label of the sign-in button, and waits until the page shows it. */
async function editToScreen(page, dir, label) {
  const file = join(dir, "src", "sign-in.tsx");
  const before = readFileSync(file, "utf8");
  const after = before.replace(/label="Sign in[^"]*"/, `label="${label}"`);
  if (after === before) throw new Error("The example's sign-in view has no label to edit.");
  const shown = page.evaluate(shownAt, [label, LATEST_MS]);
  await page.evaluate(() => 0); // the page is watching by now
  const saved = Date.now();
  writeFileSync(file, after);
  return (await shown) - saved;
}

/** Runs in the page: resolves with the time at which the label was there. */
function shownAt([label, latestMs]) {
  return new Promise((resolve, reject) => {
    const look = () => document.body.textContent.includes(label) && resolve(Date.now());
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    window.setTimeout(() => reject(new Error(`"${label}" did not come to the screen.`)), latestMs);
    look();
  });
}

// Development: the time from `tsweb dev` to the first page, and from a saved edit to the changed page in Chromium; the memory
// after many edits.
import { join } from "node:path";
import { copyAccounts } from "./lib/accounts.mjs";
import { root } from "./lib/app.mjs";
import { memoryAfterEdits } from "./lib/dev-memory.mjs";
import { launchChromium, measureEdits } from "./lib/edits.mjs";
import { spread, table } from "./lib/numbers.mjs";
import { startServer } from "./lib/processes.mjs";

/** After how many edits the memory is measured. */
const MEMORY_AT = [50, 100, 200];

/** The label of the button of a view of the accounts example. */
const VIEW = {
  file: "src/passkeys/use-passkey.tsx",
  pattern: /Use a passkey(?:, edit \d+)?(?=")/,
  label: (round) => `Use a passkey, edit ${round}`,
};

export async function dev({ rounds }) {
  const { dir, remove } = copyAccounts();
  const edit = { ...VIEW, file: join(dir, VIEW.file) };
  try {
    const { ready, first, edits } = await measureTimes(dir, { ...edit, rounds });
    const options = { ...edit, page: "/passkey", module: `/__web/dev/${VIEW.file}`, counts: MEMORY_AT };
    const memory = await memoryAfterEdits(dir, options);
    const times = [
      ["`tsweb dev` until it listens", ready.toFixed(0)],
      ["the first page until its `load` event, cold", first.toFixed(0)],
      [
        `a saved view until the page shows it (${edits.length} edits; the first: ${edits[0].toFixed(0)})`,
        spread(edits, 0),
      ],
    ];
    const sizes = memory.map(({ heapUsed, rss }, index) => [MEMORY_AT[index], mebibytes(heapUsed), mebibytes(rss)]);
    return [
      "## Development",
      "The accounts example in Chromium, in ms: the median, with minimum and maximum.",
      table(["", "ms"], times),
      "The memory of `tsweb dev` after edits, in MiB, after a garbage collection:",
      table(["edits", "heap", "resident"], sizes),
    ].join("\n\n");
  } finally {
    remove();
  }
}

const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed(1);

async function measureTimes(dir, edit) {
  const browser = await launchChromium();
  const start = performance.now();
  const env = { NODE_ENV: "development", WEB_ENV: "development", HOST: "127.0.0.1", PORT: "0" };
  // Not pinned to one core: Vite uses several, and the browser runs beside it.
  const server = await startServer([join(root, "bin", "tsweb.js"), "dev", dir], { cwd: dir, env, core: null });
  try {
    const ready = performance.now() - start;
    return { ready, ...(await measureEdits(browser, { ...edit, url: `${server.address}/passkey` })) };
  } finally {
    await server.end();
    await browser.close();
  }
}

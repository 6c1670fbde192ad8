// Checks the size budgets of pages: all the JavaScript that a page loads, compressed with gzip.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { root, run } from "./setup.mjs";

/**
 * `budget` is the limit of a page, `extra` that of the difference to the page above it, in bytes.
 *
 * About 350 bytes of each page (150 of one with live updates) are for pages whose build was replaced on the server
 * (docs/protocol.md 3.9): the reload that waits until nothing is half typed (180, which pages with live updates had before),
 * the version of each call and the attempts against an earlier server (80), and the reload after a missing script (60).
 * 150 bytes are for pages that are restored on Back (docs/protocol.md 7.10). 25 bytes are for calls that wait for the messages which
 * they have published, for the views of parts, and for pages that are the same for all clients. What a page with live updates loads on
 * demand is not counted: polls (780), shared connections (1,360), and what calls wait for (480). A query is shown beside the messages of
 * a channel here, which costs most: in their place, it costs 27 bytes.
 */
const PAGES = [
  { project: "examples/accounts", view: "src/passkeys/use-passkey.tsx", budget: 8164, contents: "a button, two calls" },
  {
    project: "tests/browser/fixtures/live",
    view: "src/room.tsx",
    budget: 10577,
    contents: "a form, subscribe and a stream",
  },
  {
    project: "tests/browser/fixtures/note",
    view: "src/note-call.tsx",
    budget: 7692,
    contents: "a form that calls a function",
  },
  // The code that is loaded once the form has the focus is not counted.
  {
    project: "tests/browser/fixtures/note",
    view: "src/note-form.tsx",
    budget: 8580,
    extra: 900,
    contents: "the same as a form of a server function",
  },
  {
    project: "tests/browser/fixtures/cards/subscribe",
    view: "src/cards.tsx",
    budget: 10175,
    contents: "subscribe and a call",
  },
  {
    project: "tests/browser/fixtures/cards/live",
    view: "src/cards.tsx",
    budget: 10940,
    extra: 765,
    contents: "the same, and the value of a query",
  },
  {
    project: "tests/browser/fixtures/cards/optimistic",
    view: "src/cards.tsx",
    budget: 11600,
    extra: 667,
    contents: "the same, and a change of the value before the call",
  },
];

let isOver = false;
let previous = 0;
for (const { project, view, budget, extra, contents } of PAGES) {
  const dir = join(root, project);
  run(process.execPath, [join(root, "bin", "tsweb.js"), "build", dir]);
  const { buildManifest } = await import(pathToFileURL(join(dir, "dist", "manifest.mjs")).href);
  const files = new Set(
    [buildManifest.islands, buildManifest.views[view]].flatMap(({ src, preload }) => [src, ...preload]),
  );
  let total = 0;
  for (const file of files) {
    const bytes = gzipSync(readFileSync(join(dir, "dist", "client", file)), { level: 9 }).length;
    console.log(`${String(bytes).padStart(7)}  ${file}`);
    total += bytes;
  }
  console.log(`${String(total).padStart(7)}  bytes of JavaScript, gzip: ${view} of ${project} (${contents})`);
  console.log(`${String(budget).padStart(7)}  is the budget`);
  if (extra) console.log(`${String(total - previous).padStart(7)}  more than the page above; at most ${extra}`);
  console.log();
  isOver ||= total > budget || total - previous > (extra ?? Infinity);
  previous = total;
}
if (isOver) {
  console.error("A page exceeds its size budget. Run tsweb build and compare the files in dist/client/assets.");
  process.exit(1);
}

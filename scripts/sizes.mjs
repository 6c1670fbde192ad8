// Checks the size budgets of pages: all the JavaScript that a page loads, compressed with gzip.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { root, run } from "./setup.mjs";

const PAGES = [
  { project: "examples/accounts", view: "src/sign-in.tsx", budget: 7500, contents: "one form view" },
  {
    project: "tests/browser/fixtures/live",
    view: "src/room.tsx",
    budget: 9500,
    contents: "a form, subscribe and a stream",
  },
];

let isOver = false;
for (const { project, view, budget, contents } of PAGES) {
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
  console.log(`${String(budget).padStart(7)}  is the budget\n`);
  isOver ||= total > budget;
}
if (isOver) {
  console.error("A page exceeds its size budget. Run tsweb build and compare the files in dist/client/assets.");
  process.exit(1);
}

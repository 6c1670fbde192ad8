// Holds the browser's side to its budget: all the JavaScript of the accounts example's sign-in page.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { root, run } from "./setup.mjs";

const BUDGET_BYTES = 7500;
const PAGE = "/ of examples/accounts (one form view)";

const example = join(root, "examples", "accounts");
run(process.execPath, [join(root, "bin", "tsweb.js"), "build", example]);
const { built } = await import(pathToFileURL(join(example, "dist", "manifest.mjs")).href);

const view = built.views["src/sign-in.tsx"];
const files = new Set([built.islands, view].flatMap(({ src, preload }) => [src, ...preload]));
let total = 0;
for (const file of files) {
  const bytes = gzipSync(readFileSync(join(example, "dist", "client", file)), { level: 9 }).length;
  console.log(`${String(bytes).padStart(7)}  ${file}`);
  total += bytes;
}
console.log(`${String(total).padStart(7)}  bytes of JavaScript, gzip, on ${PAGE}; the budget is ${BUDGET_BYTES}`);
if (total > BUDGET_BYTES) {
  console.error("Over the budget. See what grew: tsweb build, and look into dist/client/assets.");
  process.exit(1);
}

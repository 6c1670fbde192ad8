// Copies the accounts example to a temporary folder, so that a benchmark can build and edit it.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./app.mjs";

/** Folders that are created when somebody runs the example in place. */
const NOT_COPIED = new Set(["node_modules", "dist", ".data", ".tsweb"]);

/** Copies the example, and links its dependencies. */
export function copyAccounts() {
  const example = join(root, "examples", "accounts");
  const dir = mkdtempSync(join(tmpdir(), "tsweb-bench-"));
  for (const entry of readdirSync(example)) {
    if (!NOT_COPIED.has(entry)) cpSync(join(example, entry), join(dir, entry), { recursive: true });
  }
  const { dependencies } = JSON.parse(readFileSync(join(example, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const link = join(dir, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", name), link, "dir");
  }
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }) };
}

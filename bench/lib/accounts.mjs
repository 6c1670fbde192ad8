// The accounts example in a folder of its own, so that a measurement may build, edit and fill it.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./app.mjs";

/** What was installed, built or stored where the example itself stands. */
const LEFT = new Set(["node_modules", "dist", ".data", ".tsweb"]);

/** Copies it, with links to the packages it asks for. */
export function copyAccounts() {
  const example = join(root, "examples", "accounts");
  const dir = mkdtempSync(join(tmpdir(), "tsweb-bench-"));
  for (const entry of readdirSync(example)) {
    if (!LEFT.has(entry)) cpSync(join(example, entry), join(dir, entry), { recursive: true });
  }
  const { dependencies } = JSON.parse(readFileSync(join(example, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const place = join(dir, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, "node_modules", name), place, "dir");
  }
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }) };
}

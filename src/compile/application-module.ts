import { existsSync } from "node:fs";
import { posix } from "node:path";
import { normalizePath } from "vite";

const NAMES = ["src/app.ts", "src/app.tsx", "src/app.js"];

/**
 * Returns the application module as an absolute path; `undefined` when the project has none.
 *
 * @param entry its path, absolute or relative to the root. Default: `src/app.ts`, `.tsx` or `.js`
 */
export function applicationModule(root: string, entry?: string): string | undefined {
  const candidates = entry ? [entry] : NAMES;
  return candidates.map((file) => posix.resolve(root, normalizePath(file))).find((file) => existsSync(file));
}

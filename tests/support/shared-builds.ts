/**
 * Builds of projects that several test files use unchanged: each is made once in a run of the tests.
 */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { oncePerRun } from "./once-per-run.ts";
import { build } from "./run-tsweb.ts";

/**
 * Builds a project, or copies the `dist` of an earlier build in this run.
 *
 * @param dir the project, which has the same files for all callers with this name
 * @param name the name of the build
 */
export async function buildOnce(dir: string, name: string): Promise<void> {
  const output = join(dir, "dist");
  const shared = await oncePerRun(name, async (folder) => {
    await build(dir);
    cpSync(output, folder, { recursive: true });
  });
  mkdirSync(output, { recursive: true });
  cpSync(shared, output, { recursive: true });
}

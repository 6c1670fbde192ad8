/**
 * Builds of projects that several test files use unchanged: each is made once in a run of the tests.
 */
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./run-tsweb.ts";

/** The variable that names the folder of the builds. {@link setup} sets it for the processes of the test files. */
const FOLDER_VARIABLE = "TSWEB_TEST_BUILDS";

/** Creates the folder of the builds for one run of the tests. Returns a function that removes it. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "tsweb-builds-"));
  process.env[FOLDER_VARIABLE] = folder;
  return () => rmSync(folder, { recursive: true });
}

/**
 * Builds a project, or copies the `dist` of an earlier build in this run. Outside of a run of the tests it always builds.
 *
 * @param dir the project, which has the same files for all callers with this name
 * @param name the name of the build
 */
export async function buildOnce(dir: string, name: string): Promise<void> {
  const folder = process.env[FOLDER_VARIABLE];
  if (folder === undefined) return build(dir);
  const shared = join(folder, name);
  const output = join(dir, "dist");
  if (existsSync(shared)) {
    cpSync(shared, output, { recursive: true });
    return;
  }
  await build(dir);
  const copy = mkdtempSync(`${shared}-`);
  cpSync(output, copy, { recursive: true });
  try {
    renameSync(copy, shared);
  } catch (error) {
    if (!existsSync(shared)) throw error;
    rmSync(copy, { recursive: true }); // another test file was faster
  }
}

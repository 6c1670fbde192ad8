/**
 * Builds of projects that several test files use unchanged: each is made once in a run of the tests.
 */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { oncePerRun } from "./once-per-run.ts";
import { build } from "./run-tsweb.ts";

/**
 * Builds a project, or copies the `dist` of an earlier build in this run.
 *
 * @param dir the project, which has the same files for all callers with this name
 * @param name the name of the build
 * @throws Error if another project has been built by this name
 */
export async function buildOnce(dir: string, name: string): Promise<void> {
  const output = join(dir, "dist");
  const source = hashOf(dir);
  const shared = await oncePerRun(name, async (folder) => {
    await build(dir);
    cpSync(output, join(folder, "dist"), { recursive: true });
    writeFileSync(join(folder, "source"), source);
  });
  if (readFileSync(join(shared, "source"), "utf8") !== source)
    throw new Error(`The build ${name} is one of other files than those of ${dir}. Use another name.`);
  mkdirSync(output, { recursive: true });
  cpSync(join(shared, "dist"), output, { recursive: true });
}

/** Returns the hash of the names and texts of a project's modules. */
function hashOf(dir: string): string {
  const hash = createHash("sha256");
  const names = readdirSync(join(dir, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  for (const file of names.sort()) hash.update(file.slice(dir.length)).update(readFileSync(file));
  return hash.digest("hex");
}

/**
 * Builds of projects that several test files use unchanged: each is made once in a run of the tests.
 */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { filesBelow } from "../../src/cli/project/index.ts";
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

/** Folders of a project with an earlier build and the data of a server. */
const IGNORED = ["dist", "data"];

/** Returns the hash of the names and contents of a project's files. */
function hashOf(dir: string): string {
  const hash = createHash("sha256");
  const files = (filesBelow(dir) ?? [])
    .map((file) => relative(dir, file))
    .filter((file) => !IGNORED.some((folder) => file.startsWith(join(folder, "/"))));
  for (const file of files.sort()) hash.update(file).update(readFileSync(join(dir, file)));
  return hash.digest("hex");
}

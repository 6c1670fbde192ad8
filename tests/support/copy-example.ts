/**
 * Copies an example of the repository to a folder of its own: a test may edit it, build it and fill its database
 * without affecting other tests.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root folder. */
export const repository = fileURLToPath(new URL("../..", import.meta.url));

/** A copied example. */
export interface ExampleCopy {
  readonly dir: string;
  /** Deletes the copy, with its builds and its data. */
  remove(): void;
}

/**
 * Copies an example, and links the packages that it depends on.
 *
 * @param name its folder below `examples/`
 * @param packages the names of its dependencies, `tsweb` included
 * @throws Error when a package is not installed
 */
export function copyExample(name: string, packages: readonly string[]): ExampleCopy {
  const dir = mkdtempSync(join(tmpdir(), `tsweb-${name}-`));
  const example = join(repository, "examples", name);
  for (const entry of readdirSync(example)) {
    if (!NOT_COPIED.has(entry)) cpSync(join(example, entry), join(dir, entry), { recursive: true });
  }
  for (const name of packages) linkPackage(name, dir);
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Folders that are created when somebody runs the example in place. */
const NOT_COPIED: ReadonlySet<string> = new Set(["node_modules", "dist", ".data", ".tsweb"]);

function linkPackage(name: string, dir: string): void {
  const target = join(repository, "node_modules", name);
  if (!existsSync(target)) throw new Error(`${name} is not installed. Run npm install in the repository's root.`);
  const link = join(dir, "node_modules", name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(target, link, "dir");
}

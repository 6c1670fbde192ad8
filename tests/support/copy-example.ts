/**
 * An example of the repository, copied to a folder of its own: a test may edit it, build it and fill
 * its database, and no two tests meet.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root folder. */
export const repository = fileURLToPath(new URL("../..", import.meta.url));

/** A copied example. */
export interface Copy {
  readonly dir: string;
  /** Deletes it, with all that was built or stored in it. */
  remove(): void;
}

/**
 * Copies an example, and links the packages it depends on as an installation would.
 *
 * @param name its folder below `examples/`
 * @param packages the names of what it depends on, `tsweb` included
 * @throws Error when one of them is not installed
 */
export function copyExample(name: string, packages: readonly string[]): Copy {
  const dir = mkdtempSync(join(tmpdir(), `tsweb-${name}-`));
  const example = join(repository, "examples", name);
  for (const entry of readdirSync(example)) {
    if (!LEFT.has(entry)) cpSync(join(example, entry), join(dir, entry), { recursive: true });
  }
  for (const name of packages) link(name, dir);
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** What was installed, built or stored where the example itself stands. */
const LEFT: ReadonlySet<string> = new Set(["node_modules", "dist", ".data", ".tsweb"]);

function link(name: string, dir: string): void {
  const target = join(repository, "node_modules", name);
  if (!existsSync(target)) throw new Error(`${name} is not installed. Run npm install in the repository's root.`);
  const place = join(dir, "node_modules", name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(target, place, "dir");
}

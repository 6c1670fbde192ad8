import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { findOrigin, type Origin, packedTsweb, requirePackedFile } from "./origin.ts";
import { packFolder } from "./package-manager.ts";

/** How a project depends on tsweb: by a packed file, or by a specifier. */
export interface Source {
  /** The absolute path of the packed file, or `null`. */
  readonly file: string | null;
  /** The specifier for package.json, if there is no file. */
  readonly specifier: string;
  /** Whether nothing is known about the origin except that it is not a folder. */
  readonly isGuessed: boolean;
}

/** Returns how a project depends on the version of tsweb that creates it. */
export function findSource(): Source {
  const dir = realpathSync(fileURLToPath(new URL("../../..", import.meta.url)));
  const { name, version } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
  // The path of the program is below the project that has installed it, even if the package itself is in a store.
  const searchFrom = [dirname(process.argv[1] ?? dir), process.cwd()];
  const origin = findOrigin({ name, dir, searchFrom });
  const specifier = origin.kind === "url" ? origin.specifier : `^${version}`;
  return {
    file: packedFileOf(origin, version),
    specifier,
    isGuessed: origin.kind === "registry" && !origin.isCertain,
  };
}

/** Returns the packed file for a new project, or `null` if the package comes from elsewhere. */
function packedFileOf(origin: Origin, version: string): string | null {
  if (origin.kind === "file") return requirePackedFile(packedTsweb(origin.file, version));
  if (origin.kind !== "folder") return null;
  // The package create-tsweb is in packages/create-tsweb/ of the repository.
  const isCreate = basename(origin.dir) === "create-tsweb";
  return packFolder(isCreate ? resolve(origin.dir, "../..") : origin.dir);
}

/** Returns the path without symbolic links of a folder that may not exist yet. */
export function realPath(dir: string): string {
  const missing: string[] = [];
  for (let existing = dir; ; existing = dirname(existing)) {
    try {
      return join(realpathSync(existing), ...missing);
    } catch (error) {
      if (existing === dirname(existing)) throw error;
      missing.unshift(basename(existing));
    }
  }
}

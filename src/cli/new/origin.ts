import { existsSync, readFileSync, realpathSync } from "node:fs";
import type { PlatformPath } from "node:path";
import * as systemPath from "node:path";
import { fileURLToPath } from "node:url";
import { BuildError } from "../project/index.ts";
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
  const { name, version } = JSON.parse(readFileSync(systemPath.join(dir, "package.json"), "utf8"));
  // The path of the program is below the project that has installed it, even if the package itself is in a store.
  const searchFrom = [systemPath.dirname(process.argv[1] ?? dir), process.cwd()];
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
  const isCreate = systemPath.basename(origin.dir) === "create-tsweb";
  return packFolder(isCreate ? systemPath.resolve(origin.dir, "../..") : origin.dir);
}

/** Where the package came from that runs `tsweb new`. */
export type Origin =
  /** The registry, or a place that cannot be determined: then `isCertain` is false. */
  | { readonly kind: "registry"; readonly isCertain: boolean }
  /** A packed file, by its absolute path. */
  | { readonly kind: "file"; readonly file: string }
  /** Another specifier that package managers accept, such as a URL. */
  | { readonly kind: "url"; readonly specifier: string }
  /** A folder that is not installed, such as a clone of the repository, by its absolute path. */
  | { readonly kind: "folder"; readonly dir: string };

/** The package that runs: the name in its package.json, and its folder. */
export interface OwnPackage {
  readonly name: string;
  readonly dir: string;
  /** Folders from which the project is searched that has installed the package, besides `dir`. */
  readonly searchFrom: readonly string[];
}

/**
 * Returns where a package came from. `npx`, `pnpm dlx` and `yarn dlx` install it into a project of their own, whose
 * package.json names the origin like that of any other project.
 */
export function findOrigin({ name, dir, searchFrom }: OwnPackage): Origin {
  if (!/[\\/]node_modules[\\/]/.test(dir)) return { kind: "folder", dir };
  for (const start of [dir, ...searchFrom]) {
    const found = findDependency(name, start);
    if (found) return originOf(found.specifier, found.dir);
  }
  return { kind: "registry", isCertain: false };
}

/** Returns how the nearest project above a folder depends on a package, and the folder of the project. */
function findDependency(name: string, start: string): { specifier: string; dir: string } | undefined {
  for (const dir of ancestors(start)) {
    const { dependencies, devDependencies } = readManifest(systemPath.join(dir, "package.json"));
    const specifier = dependencies?.[name] ?? devDependencies?.[name];
    if (typeof specifier === "string") return { specifier, dir };
  }
  return undefined;
}

function* ancestors(start: string): Generator<string> {
  for (let dir = start; ; dir = systemPath.dirname(dir)) {
    yield dir;
    if (dir === systemPath.dirname(dir)) return;
  }
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly devDependencies?: Readonly<Record<string, unknown>>;
}

/** Reads a package.json. A file that is missing or is not JSON is not the one that names the origin. */
function readManifest(file: string): Manifest {
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, "")) ?? {};
  } catch {
    return {};
  }
}

/**
 * Returns the origin that a specifier names.
 *
 * @param specifier as in a package.json: `^1.0.0`, `latest`, `file:../tsweb-1.0.0.tgz`, `../tsweb-1.0.0.tgz` (Bun), a URL
 * @param dir the folder of that package.json
 */
export function originOf(specifier: string, dir: string, path: PlatformPath = systemPath): Origin {
  if (/^(https?|git|git\+\w+|github|gitlab|bitbucket):/.test(specifier)) return { kind: "url", specifier };
  const file = specifier.replace(/^file:/, "");
  if (!/\.(tgz|tar\.gz)$/.test(file)) return { kind: "registry", isCertain: true };
  return { kind: "file", file: path.resolve(dir, file) };
}

/**
 * Returns the packed file of tsweb that belongs to a packed file of the package `create-tsweb`: both are packed into the
 * same folder.
 */
export function packedTsweb(file: string, version: string, path: PlatformPath = systemPath): string {
  return path.basename(file).startsWith("create-") ? path.join(path.dirname(file), `tsweb-${version}.tgz`) : file;
}

/**
 * Returns the path of a packed file, without symbolic links.
 *
 * @throws BuildError if it does not exist
 */
export function requirePackedFile(file: string): string {
  if (existsSync(file)) return realpathSync(file);
  throw new BuildError(
    `${file} does not exist. tsweb was installed from it, and the new project needs it. Nothing was written. ` +
      "Put the file there, or install tsweb from another one.",
  );
}

/**
 * Returns the specifier of a packed file for the package.json of a project. It is relative where possible, so that both
 * can be moved together.
 *
 * @param dir the folder of the project
 */
export function fileSpecifier(file: string, dir: string, path: PlatformPath = systemPath): string {
  const relative = path.relative(dir, file); // absolute if Windows has them on two drives
  return `file:${relative.replaceAll(path.sep, "/")}`;
}

/** Returns the path without symbolic links of a folder that may not exist yet. */
export function realPath(dir: string): string {
  const missing: string[] = [];
  for (let existing = dir; ; existing = systemPath.dirname(existing)) {
    try {
      return systemPath.join(realpathSync(existing), ...missing);
    } catch (error) {
      if (existing === systemPath.dirname(existing)) throw error;
      missing.unshift(systemPath.basename(existing));
    }
  }
}

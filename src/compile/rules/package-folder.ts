import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, join } from "node:path";

/** The fields of a package.json that we read. */
export interface PackageJson {
  readonly name?: string;
  readonly version?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Returns the folder of a package as Node finds it, in the node_modules of each parent folder. The path is the real one,
 * because pnpm links packages, and puts their dependencies next to the target of the link.
 *
 * @param importer the file that imports the package; it need not exist
 * @returns `undefined` if the package is not installed
 */
export function packageFolder(name: string, importer: string): string | undefined {
  const paths = createRequire(isAbsolute(importer) ? importer : join(process.cwd(), "x")).resolve.paths(name) ?? [];
  const folder = paths.map((path) => join(path, name)).find((folder) => existsSync(join(folder, "package.json")));
  return folder && realpathSync(folder);
}

/** Returns the package.json of a package, by its folder. It may begin with a byte order mark, as for Node. */
export function readPackageJson(folder: string): PackageJson {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8").replace(/^\uFEFF/, ""));
}

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

/** The fields of a package.json that are read here. */
interface PackageJson {
  readonly name?: string;
  readonly main?: string;
  readonly gypfile?: boolean;
  readonly binary?: unknown;
  readonly napi?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** A package that loads compiled code (a native addon), which no bundler can include. */
export interface NativePackage {
  readonly name: string;
  readonly folder: string;
}

/** Packages that others use to locate their native addon. */
const LOADERS = [
  "bindings",
  "node-gyp-build",
  "node-pre-gyp",
  "@mapbox/node-pre-gyp",
  "prebuild-install",
  "@neon-rs/load",
];

/** Whether a package is native, by folder. Packages do not change while this process runs. */
const nativeByFolder = new Map<string, boolean>();

/** Returns the package that an import names, if it loads compiled code. */
export function findNativePackage(source: string, importer: string): NativePackage | undefined {
  const name = /^(@[^/]+\/)?[^./@\\:][^/:]*/.exec(source)?.[0];
  const folder = name && packageFolder(name, importer);
  if (!folder) return undefined;
  const isNativePackage = nativeByFolder.get(folder) ?? isNative(folder);
  nativeByFolder.set(folder, isNativePackage);
  return isNativePackage ? { name, folder } : undefined;
}

/** Searches a package as Node does: in the `node_modules` of each parent folder. */
function packageFolder(name: string, importer: string): string | undefined {
  const paths = createRequire(importer.startsWith("/") ? importer : join(process.cwd(), "x")).resolve.paths(name) ?? [];
  return paths.map((path) => join(path, name)).find((folder) => existsSync(join(folder, "package.json")));
}

function isNative(folder: string): boolean {
  const json = readJson(folder);
  if (json.gypfile || json.binary !== undefined || json.napi !== undefined) return true;
  if (json.main?.endsWith(".node") || LOADERS.some((loader) => json.dependencies && loader in json.dependencies))
    return true;
  if (readdirSync(folder).some((file) => file.endsWith(".node"))) return true;
  return Object.keys(json.optionalDependencies ?? {}).some((name) => {
    const optional = packageFolder(name, join(folder, "package.json"));
    return optional !== undefined && readJson(optional).main?.endsWith(".node") === true;
  });
}

function readJson(folder: string): PackageJson {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/**
 * Copies native packages and their dependencies beside the built application, so that `dist/` runs anywhere on a
 * system of the same kind.
 */
export async function copyNativePackages(packages: ReadonlyMap<string, string>, outDir: string): Promise<void> {
  const copied = new Set<string>();
  const copy = async (name: string, folder: string): Promise<void> => {
    if (copied.has(name)) return;
    copied.add(name);
    await cp(folder, join(outDir, "node_modules", name), {
      recursive: true,
      dereference: true,
      filter: (file) => !file.slice(folder.length).includes("node_modules"),
    });
    const { dependencies = {}, optionalDependencies = {} } = readJson(folder);
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const dependencyFolder = packageFolder(dependency, join(folder, "package.json"));
      if (dependencyFolder) await copy(dependency, dependencyFolder); // optional ones may not be installed
    }
  };
  for (const [name, folder] of packages) await copy(name, folder);
}

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

/** The fields of a package's description that we read. */
interface PackageJson {
  readonly name?: string;
  readonly main?: string;
  readonly gypfile?: boolean;
  readonly binary?: unknown;
  readonly napi?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** A package that loads compiled code, so that no bundler can take it in. */
export interface NativePackage {
  readonly name: string;
  readonly folder: string;
}

/** What packages use to find their compiled code. */
const LOADERS = [
  "bindings",
  "node-gyp-build",
  "node-pre-gyp",
  "@mapbox/node-pre-gyp",
  "prebuild-install",
  "@neon-rs/load",
];

const seen = new Map<string, boolean>();

/** Finds the package that an import names, when that package loads compiled code. */
export function findNativePackage(source: string, importer: string): NativePackage | undefined {
  const name = /^(@[^/]+\/)?[^./@\\:][^/:]*/.exec(source)?.[0];
  const folder = name && packageFolder(name, importer);
  if (!folder) return undefined;
  const known = seen.get(folder) ?? isNative(folder);
  seen.set(folder, known);
  return known ? { name, folder } : undefined;
}

/** Looks for a package as Node does: in the node_modules of each folder upwards. */
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
 * Copies packages that could not be bundled beside the built application, with all that they need,
 * so that `dist/` runs wherever it is put (on a system of the same kind).
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
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = packageFolder(needed, join(folder, "package.json"));
      // What is optional is not there on every system.
      if (found) await copy(needed, found);
    }
  };
  for (const [name, folder] of packages) await copy(name, folder);
}

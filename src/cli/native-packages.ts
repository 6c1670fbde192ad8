import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { FullTracePackages, NodeNativePackages } from "nf3/db";

/** The fields of a package.json that we read. */
interface PackageJson {
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Files and folders that show that a package is compiled at installation or contains compiled code. */
const COMPILED = /^(?:binding\.gyp|CMakeLists\.txt|prebuilds)$|\.node$/;

/** Whether a package is native, by folder. Packages do not change while this process runs. */
const isNativeByFolder = new Map<string, boolean>();

/**
 * Returns the name of the package that an import refers to when that package loads compiled code, so
 * that it cannot be bundled. If unsure, it returns the name: a copied package works as well as a bundled one.
 */
export function nativePackageName(source: string, importer: string): string | undefined {
  const name = /^(@[^/]+\/)?[^./@\\:][^/:]*/.exec(source)?.[0];
  const folder = name && packageFolder(name, importer);
  if (!folder) return undefined;
  const isNative = isNativeByFolder.get(folder) ?? (NodeNativePackages.includes(name) || holdsCompiledCode(folder));
  isNativeByFolder.set(folder, isNative);
  return isNative ? name : undefined;
}

/**
 * Returns the folder of a package as Node finds it, in the node_modules of each parent folder. The path is the real one,
 * because pnpm links packages, and puts their dependencies next to the target of the link.
 */
function packageFolder(name: string, importer: string): string | undefined {
  const paths = createRequire(importer.startsWith("/") ? importer : join(process.cwd(), "x")).resolve.paths(name) ?? [];
  const folder = paths.map((path) => join(path, name)).find((folder) => existsSync(join(folder, "package.json")));
  return folder && realpathSync(folder);
}

function holdsCompiledCode(folder: string): boolean {
  if (readdirSync(folder).some((file) => COMPILED.test(file))) return true;
  // sharp and napi-rs packages have one optional package per platform. npm installs the one for this platform.
  return Object.keys(readJson(folder).optionalDependencies ?? {}).some((name) => {
    const optional = packageFolder(name, join(folder, "package.json"));
    if (!optional) return false;
    const { os, cpu } = readJson(optional);
    return os !== undefined || cpu !== undefined;
  });
}

function readJson(folder: string): PackageJson {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/**
 * Copies packages that could not be bundled to `node_modules` of the built application, with all that they
 * load, so that `dist/` runs wherever it is moved to, on the same platform and C library.
 *
 * @param packages their names, by the path of the file that the application imports
 */
export async function copyNativePackages(packages: ReadonlyMap<string, string>, outDir: string): Promise<void> {
  if (packages.size === 0) return;
  const { traceNodeModules } = await import("nf3"); // 0.3 MB that most builds do not need
  // nf3 is tested with the packages of its list. Others are copied whole: they may load files by computed names.
  const others = [...packages.values()].filter((name) => !NodeNativePackages.includes(name));
  await traceNodeModules([...packages.keys()], { outDir, fullTraceInclude: [...FullTracePackages, ...others] });
}

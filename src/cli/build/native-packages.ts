import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { FullTracePackages, NodeNativePackages } from "nf3/db";
import { packageFolder, readPackageJson } from "../../compile/index.ts";

/** Files and folders that show that a package is compiled at installation or contains compiled code. */
const COMPILED = /^(?:binding\.gyp|CMakeLists\.txt|prebuilds)$|\.node$/;

/** Whether a package is native, by folder. Packages do not change while this process runs. */
const isNativeByFolder = new Map<string, boolean>();

/** The folders of packages, by their name and the folder of the importer. */
const folderByImport = new Map<string, string | undefined>();

/**
 * Returns the name of the package that an import refers to when that package loads compiled code, so
 * that it cannot be bundled. If unsure, it returns the name: a copied package works as well as a bundled one.
 */
export function nativePackageName(source: string, importer: string): string | undefined {
  const name = /^(@[^/]+\/)?[^./@\\:][^/:]*/.exec(source)?.[0];
  const folder = name && !source.startsWith("node:") ? folderOf(name, importer) : undefined;
  if (!name || !folder) return undefined;
  const isNative = isNativeByFolder.get(folder) ?? (NodeNativePackages.includes(name) || holdsCompiledCode(folder));
  isNativeByFolder.set(folder, isNative);
  return isNative ? name : undefined;
}

function folderOf(name: string, importer: string): string | undefined {
  const key = `${name}\0${dirname(importer)}`;
  if (!folderByImport.has(key)) folderByImport.set(key, packageFolder(name, importer));
  return folderByImport.get(key);
}

function holdsCompiledCode(folder: string): boolean {
  if (readdirSync(folder).some((file) => COMPILED.test(file))) return true;
  // sharp and napi-rs packages have one optional package per platform. npm installs the one for this platform.
  return Object.keys(readPackageJson(folder).optionalDependencies ?? {}).some((name) => {
    const optional = packageFolder(name, join(folder, "package.json"));
    if (!optional) return false;
    const { os, cpu } = readPackageJson(optional);
    return os !== undefined || cpu !== undefined;
  });
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

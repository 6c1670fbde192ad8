import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { FullTracePackages, NodeNativePackages } from "nf3/db";
import { type InlineConfig, type Plugin, parseAst, type Rolldown } from "vite";
import { isServerModule, packageFolder, readPackageJson } from "../../compile/index.ts";
import { projectName } from "../../config/index.ts";
import type { Manifest } from "../../server/index.ts";
import type { FixedOptions } from "../errors/index.ts";
import { type ModuleGraph, readSourceFiles } from "../modules/index.ts";
import { isOwnModule, ownDistFolders } from "./chunk-groups.ts";
import { hashedNames } from "./kept-assets.ts";

/** The modules of the server's build, and their imports. */
export interface ServerGraph extends ModuleGraph {
  readonly modules: readonly string[];
}

/** The server's build: its configuration, and its results after it has run. */
interface ServerBuild {
  readonly config: InlineConfig;
  /** The options of {@link config} that a project's Vite config cannot change. */
  readonly options: FixedOptions;
  readonly plugin: Plugin;
  graph(): ServerGraph;
  /**
   * Returns whether the build must be repeated with the other value of `isOneFile`: a server is one file if one of its modules
   * awaits something while it is loaded. Nothing was written then. In several files, the modules that a part shares with such a
   * module would be in a third file, which runs first: before the modules that are imported before them.
   */
  mustBeRepeated(): boolean;
  /** Returns whether all modules were parsed, and the application module has no default export. */
  lacksDefaultExport(): boolean;
  /** Returns the names of the packages that load compiled code and cannot be bundled, by the path of the imported file. */
  nativePackages(): ReadonlyMap<string, string>;
  /** Returns the images and other assets of pages, by their path below the browser's files. */
  assets(): ReadonlyMap<string, string | Uint8Array>;
  /** Returns the paths of the assets whose names contain a hash. */
  hashedAssets(): readonly string[];
  /** Returns the prefix of the assets' URLs, which the running application replaces with its base; `undefined` if no code has it. */
  assetBase(): string | undefined;
}

const ENTRY = "virtual:tsweb/server";
const MANIFEST = "tsweb:manifest";

/** The module that the build replaces by the manifest. */
const MANIFEST_MODULE = fileURLToPath(new URL("../../server/build-manifest.js", import.meta.url));

/** The module that the build replaces by the name in package.json, and the folder of the build. */
const BUILD_INFO_MODULE = fileURLToPath(new URL("../../config/build-info.js", import.meta.url));

/** The options of {@link serverBuild}. */
export interface ServerBuildOptions {
  readonly root: string;
  readonly entry: string;
  readonly outDir: string;
  /** Whether the whole server is one file. */
  readonly isOneFile: boolean;
}

/**
 * Prepares the server's build, with everything but compiled code in it: `app.mjs`, and a file for each part that is only
 * loaded by `import()`, such as the clients of Redis and NATS.
 */
export function serverBuild({ root, entry, outDir, isOneFile }: ServerBuildOptions): ServerBuild {
  let mustBeRepeated = false;
  const imports = new Map<string, Pick<Rolldown.ModuleInfo, "importedIds" | "dynamicallyImportedIds">>();
  let lacksDefaultExport = false;
  let hasAssetUrls = false;
  const nativePackages = new Map<string, string>();
  const assets = new Map<string, string | Uint8Array>();
  let hashed: readonly string[] = [];
  // Random, so that no text from a user can contain it and be replaced on a page.
  const assetBase = `/${randomBytes(12).toString("hex")}/`;
  const distFolders = ownDistFolders(root);
  const plugin: Plugin = {
    name: "tsweb:server-build",
    enforce: "pre",
    // The filters of these hooks save the call of JavaScript for most of the hundreds of modules and imports.
    resolveId: {
      filter: { id: { include: /^[^./\\]/, exclude: /^node:/ } },
      async handler(source, importer, { kind }) {
        if (source === ENTRY) return ENTRY;
        if (source === MANIFEST) return { id: MANIFEST, external: true };
        const name = importer ? nativePackageName(source, importer) : undefined;
        const resolved = name && (await this.resolve(source, importer, { kind }));
        if (!name || !resolved) return undefined;
        nativePackages.set(resolved.id, name);
        return { id: source, external: true };
      },
    },
    load: {
      filter: { id: /^virtual:|[\\/]build-(?:info|manifest)\.js$/ },
      handler(id) {
        if (id === ENTRY) {
          return `export { default } from ${JSON.stringify(entry)};\nexport { serve } from "tsweb/node";`;
        }
        if (id === BUILD_INFO_MODULE) {
          const name = JSON.stringify(projectName(root) ?? "");
          return `export const builtName = ${name};\nexport const builtFolder = import.meta.dirname;`;
        }
        return id === MANIFEST_MODULE ? `export { buildManifest } from ${JSON.stringify(MANIFEST)};` : undefined;
      },
    },
    buildEnd(error) {
      if (!error) lacksDefaultExport = !this.getModuleInfo(entry)?.exports.includes("default");
    },
    generateBundle: {
      order: "post",
      handler(options, bundle) {
        const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
        let awaitsAtLoad = false;
        for (const id of this.getModuleIds()) {
          // Modules of tsweb await nothing. Their imports are left out: they import no style sheets, and the views' version of a
          // module imports other modules than that of the server.
          const info = isOwnModule(id, distFolders) ? null : this.getModuleInfo(id);
          const { importedIds = [], dynamicallyImportedIds = [], code } = info ?? {};
          imports.set(id, { importedIds, dynamicallyImportedIds });
          awaitsAtLoad ||= hasTopLevelAwait(code ?? "");
        }
        mustBeRepeated = isOneFile ? !awaitsAtLoad : awaitsAtLoad && chunks.length > 1;
        if (mustBeRepeated) for (const name of Object.keys(bundle)) delete bundle[name];
        hasAssetUrls = chunks.some(({ code }) => code.includes(assetBase));
        hashed = hashedNames(bundle, options);
        moveAssets(bundle, assets);
      },
    },
  };
  return {
    config: serverConfig(root, isOneFile),
    options: { base: assetBase, envDir: false, build: { outDir } }, // .env files are for development only
    plugin,
    graph: () => ({
      modules: [...imports.keys()],
      imports: (id) => imports.get(id)?.importedIds ?? [],
      dynamicImports: (id) => imports.get(id)?.dynamicallyImportedIds ?? [],
    }),
    mustBeRepeated: () => mustBeRepeated,
    lacksDefaultExport: () => lacksDefaultExport,
    nativePackages: () => nativePackages,
    assets: () => assets,
    hashedAssets: () => hashed.filter((name) => assets.has(name)).map((name) => `/${name}`),
    assetBase: () => (hasAssetUrls ? assetBase : undefined),
  };
}

/** Moves the browser's files out of the server's bundle. Style sheets are built with the browser's scripts. */
function moveAssets(bundle: Rolldown.OutputBundle, assets: Map<string, string | Uint8Array>): void {
  for (const [name, file] of Object.entries(bundle)) {
    if (file.type !== "asset" || !name.startsWith("assets/")) continue;
    delete bundle[name];
    if (!name.endsWith(".css")) assets.set(name, file.source);
  }
}

function serverConfig(root: string, isOneFile: boolean): InlineConfig {
  return {
    root,
    logLevel: "warn",
    envPrefix: [],
    // Otherwise each check for development in a package reads the environment: a call into C++ of about 1 µs.
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    build: {
      ssr: true,
      ssrEmitAssets: true,
      assetsInlineLimit: 0, // as in the browser's build: both must render the same URL
      emptyOutDir: false,
      copyPublicDir: false,
      target: "node20.19",
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        checks: { pluginTimings: false }, // a warning about the time of each plugin on a busy machine
        input: { app: ENTRY },
        output: {
          entryFileNames: "[name].mjs",
          // Beside app.mjs, so that `import.meta.url` has the same folder in all of them. With a hash, so that a process that
          // still runs never loads a part of a later build.
          chunkFileNames: "[name]-[hash].mjs",
          paths: { [MANIFEST]: "./manifest.mjs" },
          codeSplitting: !isOneFile,
          comments: { legal: true, annotation: false, jsdoc: false }, // a quarter of the code
        },
      },
    },
    ssr: { noExternal: true },
  };
}

/**
 * Returns whether a server module of the project seems to await something while it is loaded, by the start of a line. If this is
 * wrong, the server is built twice.
 */
export async function seemsToAwaitAtLoad(root: string): Promise<boolean> {
  const files = await readSourceFiles(root);
  return files.some(({ file, text }) => isServerModule(file, root) && LINE_WITH_AWAIT.test(text));
}

const LINE_WITH_AWAIT = /^(?:export )?(?:(?:const|let|var) [^=\n]*= )?await\b/m;

/**
 * Returns whether a module awaits something while it is loaded. When unsure, it returns `true`: for code that cannot be
 * parsed as a module.
 *
 * @param code JavaScript, without types and JSX
 */
export function hasTopLevelAwait(code: string): boolean {
  if (!/\bawait\b/.test(code) || isCommonJs(code)) return false;
  try {
    return containsAwait(parseAst(code, { lang: "js", sourceType: "module" }));
  } catch {
    return true;
  }
}

/** Returns whether code is surely CommonJS, which cannot await at the top level. Parsing it would take long: the clients of the buses are large. */
function isCommonJs(code: string): boolean {
  return (
    /^(?:module\.)?exports\b|^Object\.defineProperty\(exports,/m.test(code) && !/^\s*(?:import|export)\b/m.test(code)
  );
}

function containsAwait(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(containsAwait);
  if (typeof node !== "object" || node === null || !("type" in node)) return false;
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return false; // parameters of a function at the top level cannot await either
    case "PropertyDefinition":
      return "computed" in node && node.computed === true && "key" in node && containsAwait(node.key);
    case "AwaitExpression":
      return true;
    case "ForOfStatement":
      if ("await" in node && node.await === true) return true;
      break;
    case "VariableDeclaration":
      if ("kind" in node && node.kind === "await using") return true;
  }
  return Object.values(node).some(containsAwait);
}

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

const SERVER = `// Serves the application until the process receives SIGTERM or SIGINT: node server.mjs
import { storeCompiledCode } from "./compile-cache.mjs";
import { mapStacks } from "./source-maps.mjs";

mapStacks(new URL(".", import.meta.url).href);
storeCompiledCode(new URL(".compile-cache/", import.meta.url));
try {
  // Only the workers load the application, so that the supervisor does not run its start-up code.
  if (!(await startSupervisor(Number(process.env.WEB_WORKERS ?? 1)))) await start();
} catch (error) {
  // The messages of these errors are complete without a stack.
  const isExpected = error?.name === "ConfigError" || error?.name === "ListenError";
  if (isExpected || process.env.WEB_ENV === "development") console.error(isExpected ? error.message : error);
  else await logError(error);
  process.exit(1);
}

async function start() {
  const { default: app, serve } = await import("./app.mjs");
  await serve(app);
}

/** Starts the workers if this process is their supervisor. Returns whether it is. */
async function startSupervisor(workers) {
  if (!(workers > 1)) return false; // loads nothing for one process
  const { isSupervisor, supervise } = await import("./workers.mjs");
  if (!isSupervisor(workers)) return false;
  const { logEvent } = await import("./log-output.mjs");
  const { relayMetrics } = await import("./metrics-relay.mjs");
  relayMetrics();
  await supervise(workers, logEvent);
  return true;
}

async function logError(error) {
  const { logEvent } = await import("./log-output.mjs");
  const { serializeError } = await import("./serialize-error.mjs");
  logEvent("error", { err: serializeError(error) }, "The application could not be started");
}
`;

/** Files that import nothing but Node's own modules and each other, so that they are copied without bundling. */
const COPIED = {
  "workers.mjs": "../../adapters/workers.js",
  "metrics-relay.mjs": "../../observe/metrics-relay.js",
  "compile-cache.mjs": "../../adapters/compile-cache.js",
  "json-line.mjs": "../../logging/json-line.js",
  "log-output.mjs": "../../logging/log-output.js",
  "serialize-error.mjs": "../../logging/serialize-error.js",
  "source-maps.mjs": "../../adapters/source-maps.js",
};

/** Writes the files of the built server that are not bundled: its start, its worker pool with its log, its manifest. */
export async function writeServer(outDir: string, manifest: Manifest): Promise<void> {
  await writeFile(join(outDir, "server.mjs"), SERVER);
  for (const [name, source] of Object.entries(COPIED)) {
    const text = await readFile(fileURLToPath(new URL(source, import.meta.url)), "utf8");
    await writeFile(join(outDir, name), text.replace(/(from "\.\/[\w-]+)\.js"/g, '$1.mjs"'));
  }
  await writeFile(join(outDir, "manifest.mjs"), `export const buildManifest = ${JSON.stringify(manifest, null, 2)};\n`);
}

import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { createBuilder, type InlineConfig } from "vite";
import { compileStep, ProjectError } from "../../compile/index.ts";
import type { KeptBuild, Manifest } from "../../server/index.ts";
import { explainViteError, fixOptions, loadingConfig } from "../errors/index.ts";
import { emptyStyleSheets } from "../modules/index.ts";
import {
  BuildError,
  findEntry,
  htmlFileNotes,
  noApplicationError,
  relativeFile,
  typesNotice,
} from "../project/index.ts";
import { filesOfPages, type PageReport, printPages, readFileSizes } from "../sizes/index.ts";
import { BundledReact } from "./bundled-react.ts";
import { chunkGroupOf, ownDistFolders } from "./chunk-groups.ts";
import { browserInputs, clientBuild } from "./client.ts";
import { type FileReference, FileReferences, referenceWarnings, UnresolvedUrls } from "./file-references.ts";
import { createBuildId, type EarlierBuild, keepAssets, readEarlierBuild } from "./kept-assets.ts";
import {
  copyIncluded,
  findIncluded,
  type IncludedFiles,
  readBudget,
  readIncludePatterns,
  readPackageOptions,
} from "./package-options.ts";
import { copyNativePackages, type ServerBuildOptions, seemsToAwaitAtLoad, serverBuild, writeServer } from "./server.ts";
import { mayHaveStaticPages, writeStaticPages } from "./static-pages.ts";

export { packageOptionsProblem } from "./package-options.ts";
export type { LoadReport } from "./static-pages.ts";

interface BuildOptions {
  /** The `dist` of an earlier build, as an absolute path: its hashed assets are taken over. */
  readonly keepFrom?: string | undefined;
}

/**
 * Builds an application into `dist/`. `server.mjs` runs with plain Node, without tsweb or Vite installed; `client/`
 * has the browser's files.
 *
 * The server is built first: only the views that its pages can render are built for the browser.
 *
 * @param root the application's folder
 * @throws BuildError for a mistake in the application, and for a folder to keep from that contains no build
 */
export async function build(root: string, { keepFrom }: BuildOptions = {}): Promise<void> {
  const startedAt = performance.now();
  const entry = findEntry(root);
  process.chdir(root);
  const outDir = join(root, "dist");
  const options = readPackageOptions(root);
  const budget = readBudget(options);
  const included = findIncluded(root, readIncludePatterns(options));
  const earlier = keepFrom === undefined ? undefined : await readEarlierBuild(keepFrom);
  const id = createBuildId(earlier?.manifest.build);
  // Built beside `dist/` and renamed, so that a failed build leaves the last one unchanged.
  const temporaryDir = join(root, `.dist-${process.pid}`);
  try {
    const built = await buildInto(temporaryDir, { root, entry, id, earlier });
    const { references, report, kept, warnings } = built;
    await copyIncluded(root, included.files, temporaryDir);
    await addStaticPages(temporaryDir, built);
    await rm(outDir, { recursive: true, force: true, maxRetries: 3 }); // a process that ends may store compiled code in it
    await rename(temporaryDir, outDir);
    printIncluded(included, references);
    for (const warning of warnings) console.warn(`\n  ${warning}`);
    if (keepFrom !== undefined) printKept(kept, { earlier, keepFrom });
    await printPages(report, budget);
  } finally {
    await rm(temporaryDir, { recursive: true, force: true });
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const notice = typesNotice(root, process.env);
  console.log(`\n  Built into dist in ${seconds} s. Serve it with: tsweb serve, or node dist/server.mjs`);
  console.log(notice ? `  ${notice}\n` : "");
}

/** Renders the static pages, if there may be any: only then does the build run code of the application. */
async function addStaticPages(dir: string, { modules, manifest }: BuildResult): Promise<void> {
  if (!(await mayHaveStaticPages(modules))) return;
  const staticPages = await writeStaticPages(dir, manifest.files);
  if (staticPages.length === 0) return;
  await compressFiles(
    join(dir, "client"),
    staticPages.map(({ file }) => file),
  );
  await writeServer(dir, { ...manifest, staticPages });
  console.log(`\n  Rendered ${staticPages.length} static page${staticPages.length === 1 ? "" : "s"} into dist/client.`);
}

/** Prints which files were copied besides the modules, and which were not although the application may need them. */
function printIncluded({ files, refused }: IncludedFiles, references: readonly FileReference[]): void {
  const shown =
    files.length > MAX_PRINTED ? [...files.slice(0, MAX_PRINTED), `and ${files.length - MAX_PRINTED} more`] : files;
  if (files.length > 0) console.log(`\n  Copied into dist: ${shown.join(", ")}`);
  if (refused.length > 0)
    console.warn(`\n  Not copied, because they contain environment variables: ${refused.join(", ")}`);
  for (const warning of referenceWarnings(references, files)) console.warn(`\n  ${warning}`);
}

/** The number of copied files that are printed by name. */
const MAX_PRINTED = 20;

/** Prints how many files were taken over. A folder that is missing is normal before the first deployment. */
function printKept(
  kept: readonly KeptBuild[],
  { earlier, keepFrom }: { earlier: EarlierBuild | undefined; keepFrom: string },
): void {
  if (!earlier) console.warn(`\n  Nothing was kept of earlier builds: ${keepFrom} does not exist.`);
  else {
    const count = kept.reduce((sum, { files }) => sum + files.length, 0);
    console.log(`\n  Kept of earlier builds: ${count} files that this build does not have.`);
  }
}

/** What a build prints after it has succeeded. */
interface BuildResult {
  /** The files to which server modules refer by their paths. */
  readonly references: readonly FileReference[];
  readonly report: PageReport;
  readonly kept: readonly KeptBuild[];
  readonly manifest: Manifest;
  /** The modules of the server, without those of tsweb. */
  readonly modules: readonly string[];
  /** About packages that cannot work in views, URLs of missing files, and HTML files that are no pages. */
  readonly warnings: readonly string[];
}

/** An application to build. */
interface BuildInput {
  readonly root: string;
  readonly entry: string;
  /** The id of the build. */
  readonly id: string;
  readonly earlier: EarlierBuild | undefined;
}

async function buildInto(outDir: string, { root, entry, id, earlier }: BuildInput): Promise<BuildResult> {
  const distFolders = ownDistFolders(root);
  const urls = new UnresolvedUrls();
  const { plugins, registry, server, references } = await buildServer({ root, entry, outDir, distFolders, urls });
  const inputs = browserInputs(root, entry, { graph: server.graph(), registry });

  const clientDir = join(outDir, "client");
  const client = clientBuild({ root, outDir: clientDir, inputs });
  const react = new BundledReact(root);
  const clientPlugins = [plugins, emptyStyleSheets(), client.plugin, react.plugin(), urls.plugin()];
  if (client.hasInputs) await runBuild(client.config, clientPlugins);
  await writeAssets(clientDir, server.assets());
  const clientManifest = await client.manifest(registry.stubs());
  const hashedFiles = [...new Set([...clientManifest.hashedFiles, ...server.hashedAssets()])].sort();
  const assetBase = server.assetBase();
  const built: Manifest = {
    build: id,
    ...clientManifest,
    hashedFiles,
    kept: [],
    ...(assetBase === undefined ? {} : { assetBase }),
  };

  await compressFiles(clientDir, built.files);
  const manifest = earlier ? await keepAssets(built, earlier, clientDir) : built;
  await copyNativePackages(server.nativePackages(), outDir);
  await writeServer(outDir, manifest);
  const pages = filesOfPages({ manifest, files: client.files(), registry });
  const isOwnModule = (id: string) => chunkGroupOf(id, distFolders) !== undefined;
  const report = { root, isOwnModule, files: client.files(), pages, sizeOf: await readFileSizes(pages, clientDir) };
  const warnings = [
    ...react.warnings,
    ...(await urls.warnings(root, registry.routePaths())),
    ...htmlFileNotes(root, urls.publicDir),
  ];
  const modules = server.graph().modules.filter((id) => !isOwnModule(id));
  return { references: references.existing(), report, kept: manifest.kept, manifest, modules, warnings };
}

interface ServerInput extends Pick<ServerBuildOptions, "root" | "entry" | "outDir"> {
  readonly distFolders: readonly string[];
  readonly urls: UnresolvedUrls;
}

/** Builds the server, and returns what its build knows of the application. */
async function buildServer(input: ServerInput) {
  const { plugins, registry } = compileStep({ entry: input.entry });
  const printed = new Set<string>();
  const warn = (message: string) => {
    if (!printed.has(message)) console.warn(`\n  ${message}`);
    printed.add(message);
  };
  const isOneFile = await seemsToAwaitAtLoad(input.root);
  const first = await runServerBuild(input, { plugins, warn, isOneFile });
  // With the same plugins, so that no warning is printed again.
  const { server, references } = first.server.mustBeRepeated()
    ? await runServerBuild(input, { plugins, warn, isOneFile: !isOneFile })
    : first;
  return { plugins, registry, server, references };
}

/** What both attempts to build a server have in common, and whether it is the second one. */
interface ServerAttempt {
  readonly plugins: ReturnType<typeof compileStep>["plugins"];
  readonly warn: (message: string) => void;
  readonly isOneFile: boolean;
}

async function runServerBuild(input: ServerInput, { plugins, warn, isOneFile }: ServerAttempt) {
  const { root, entry, outDir, distFolders, urls } = input;
  const server = serverBuild({ root, entry, outDir, isOneFile });
  const references = new FileReferences(root, distFolders);
  const fixed = fixOptions(server.options, warn);
  await runBuild(server.config, [plugins, server.plugin, references.plugin(), urls.plugin(), fixed]).catch(
    (error: unknown) => {
      const isNoApplication = server.lacksDefaultExport();
      throw isNoApplication ? noApplicationError(root, entry, { cause: error }) : error;
    },
  );
  return { server, references };
}

/** Runs one of the two builds. */
async function runBuild(config: InlineConfig, plugins: InlineConfig["plugins"]): Promise<void> {
  const { root = process.cwd() } = config;
  const builder = await loadingConfig(root, () => createBuilder({ ...config, plugins: [plugins] }, true)); // as Vite's build()
  const environment = Object.values(builder.environments)[0];
  if (!environment) throw new Error("Vite has created no environment for the build.");
  await builder.build(environment).catch((error: unknown) => {
    throw explainBuildError(error, root);
  });
}

async function writeAssets(folder: string, assets: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  for (const [name, source] of assets) {
    const file = join(folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, source);
  }
}

const COMPRESSIBLE = /\.(js|mjs|css|html|svg|json|txt|xml|map|webmanifest|wasm|ico|ttf|otf)$/;

/** Smaller files fit into one packet: compression would save nothing. */
const MIN_BYTES = 1024;

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/**
 * Writes compressed copies beside files, at the highest level: once at the build instead of at each request.
 *
 * @param files their paths below `folder`, each with a slash in front
 */
async function compressFiles(folder: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    if (!COMPRESSIBLE.test(file)) continue;
    const path = join(folder, file);
    const bytes = await readFile(path);
    if (bytes.length < MIN_BYTES) continue;
    const [br, gz] = await Promise.all([
      compressBrotli(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
      compressGzip(bytes, { level: 9 }),
    ]);
    if (br.length < bytes.length) await writeFile(`${path}.br`, br);
    if (gz.length < bytes.length) await writeFile(`${path}.gz`, gz);
  }
}

/** An error in Vite's list of build errors: its own, or one that a plugin threw. */
interface BundlerError extends Error {
  readonly id?: string;
  readonly loc?: { readonly line: number; readonly column: number };
  readonly frame?: string;
  readonly plugin?: string;
  /** Set by Rolldown. */
  readonly kind?: string;
}

/**
 * Converts the error of a failed build to a `BuildError` that names each mistake with its location and source lines,
 * without Vite's stack.
 *
 * Returns the error unchanged when no file of the application is the cause, such as a defect in a plugin.
 */
export function explainBuildError(error: unknown, root: string): unknown {
  const errors = error instanceof Error && "errors" in error && Array.isArray(error.errors) ? error.errors : [];
  if (errors.length === 0 || !errors.every(isMistake)) return error;
  const mistakes = errors.map((mistake) => format(explainViteError(mistake, root) ?? mistake, root));
  return new BuildError(mistakes.join("\n\n"), { cause: error });
}

/**
 * Vite's own errors concern the application's files. An error of a plugin does so if it has a location or is a
 * `ProjectError`.
 */
function isMistake(error: unknown): error is BundlerError {
  return error instanceof Error && (!("plugin" in error) || "loc" in error || error instanceof ProjectError);
}

function format({ kind, id, loc, frame, message }: BundlerError, root: string): string {
  const text = stripVTControlCharacters(message).trimEnd();
  if (kind !== undefined) return text.replace(/^\[[A-Z_]+\] /, ""); // Rolldown's messages contain location and lines
  const location = id && loc ? `${relativeFile(root, id)}:${loc.line}:${loc.column + 1}\n` : "";
  return `${location}${text}${frame ? `\n\n${frame}` : ""}`;
}

import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createBuilder, type InlineConfig } from "vite";
import { compileStep } from "../../compile/index.ts";
import type { Manifest } from "../../server/index.ts";
import { fixOptions, loadingConfig } from "../errors/index.ts";
import { emptyStyleSheets } from "../modules/index.ts";
import { findEntry, noApplicationError, typesNotice } from "../project/index.ts";
import { filesOfPages, type PageReport, printPages, readFileSizes } from "../sizes/index.ts";
import { browserInputs } from "./browser-inputs.ts";
import { readBudget } from "./budget.ts";
import { chunkGroupOf, ownDistFolders } from "./chunk-groups.ts";
import { clientBuild } from "./client.ts";
import { compressFiles } from "./compress.ts";
import { explainBuildError } from "./errors.ts";
import { type FileReference, FileReferences, referenceWarnings } from "./file-references.ts";
import { copyIncluded, findIncluded, type IncludedFiles, readIncludePatterns } from "./include.ts";
import { copyNativePackages } from "./native-packages.ts";
import { readPackageOptions } from "./package-options.ts";
import { serverBuild } from "./server.ts";
import { writeServer } from "./write-server.ts";

/**
 * Builds an application into `dist/`. `server.mjs` runs with plain Node, without tsweb or Vite installed; `client/`
 * has the browser's files.
 *
 * The server is built first: only the views that its pages can render are built for the browser.
 *
 * @param root the application's folder
 * @throws BuildError for a mistake in the application
 */
export async function build(root: string): Promise<void> {
  const startedAt = performance.now();
  const entry = findEntry(root);
  process.chdir(root);
  const outDir = join(root, "dist");
  const options = readPackageOptions(root);
  const budget = readBudget(options);
  const included = findIncluded(root, readIncludePatterns(options));
  // Built beside `dist/` and renamed, so that a failed build leaves the last one unchanged.
  const temporaryDir = join(root, `.dist-${process.pid}`);
  try {
    const { references, report } = await buildInto(temporaryDir, { root, entry });
    await copyIncluded(root, included.files, temporaryDir);
    await rm(outDir, { recursive: true, force: true });
    await rename(temporaryDir, outDir);
    printIncluded(included, references);
    await printPages(report, budget);
  } finally {
    await rm(temporaryDir, { recursive: true, force: true });
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const notice = typesNotice(root, process.env);
  console.log(`\n  Built into dist in ${seconds} s. Serve it with: tsweb serve, or node dist/server.mjs`);
  console.log(notice ? `  ${notice}\n` : "");
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

/** What a build prints after it has succeeded. */
interface BuildResult {
  /** The files to which server modules refer by their paths. */
  readonly references: readonly FileReference[];
  readonly report: PageReport;
}

async function buildInto(outDir: string, { root, entry }: { root: string; entry: string }): Promise<BuildResult> {
  const { plugins, registry } = compileStep({ entry });
  const distFolders = ownDistFolders(root);
  const server = serverBuild({ root, entry, outDir });
  const references = new FileReferences(root, distFolders);
  const fixed = fixOptions(server.options, (message) => console.warn(`\n  ${message}`));
  await runBuild(server.config, [plugins, server.plugin, references.plugin(), fixed]).catch((error: unknown) => {
    const isNoApplication = server.lacksDefaultExport();
    throw isNoApplication ? noApplicationError(root, entry, { cause: error }) : error;
  });
  const inputs = browserInputs(root, entry, { graph: server.graph(), registry });

  const clientDir = join(outDir, "client");
  const client = clientBuild({ root, outDir: clientDir, inputs });
  if (client.hasInputs) await runBuild(client.config, [plugins, emptyStyleSheets(), client.plugin]);
  await writeAssets(clientDir, server.assets());
  const clientManifest = await client.manifest(registry.stubs());
  const hashedFiles = [...new Set([...clientManifest.hashedFiles, ...server.hashedAssets()])].sort();
  const manifest: Manifest = { ...clientManifest, hashedFiles, assetBase: server.assetBase };

  await compressFiles(clientDir, manifest.files);
  await copyNativePackages(server.nativePackages(), outDir);
  await writeServer(outDir, manifest);
  const pages = filesOfPages({ manifest, files: client.files(), registry });
  const isOwnModule = (id: string) => chunkGroupOf(id, distFolders) !== undefined;
  const report = { root, isOwnModule, files: client.files(), pages, sizeOf: await readFileSizes(pages, clientDir) };
  return { references: references.existing(), report };
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

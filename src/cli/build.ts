import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type InlineConfig, build as viteBuild } from "vite";
import { type Registry, registryOf, tsweb } from "../compile/index.ts";
import type { Manifest } from "../server/index.ts";
import { clientBuild } from "./build-client.ts";
import { explainBuild } from "./build-errors.ts";
import { type ServerGraph, serverBuild } from "./build-server.ts";
import { compressFiles } from "./compress.ts";
import { appStyleSheets, sharedModules, styleSheetsOf } from "./graph.ts";
import { copyNativePackages } from "./native.ts";
import { BuildError, fileOf, findEntry, noApplication, SERVER_MODULE } from "./project.ts";
import { emptyStyleSheets } from "./styles.ts";
import { writeServer } from "./write-server.ts";

/** What the server's build found out for the browser's. */
export interface Found {
  /** The modules whose views pages show, as absolute paths. */
  readonly views: readonly string[];
  /** What all of those modules import, however far down. */
  readonly shared: readonly string[];
  /** The style sheets of each page module, as absolute paths, by the module's file. */
  readonly styles: Readonly<Record<string, readonly string[]>>;
  readonly appStyles: readonly string[];
}

/**
 * Builds an application into `dist/`: `server.mjs` runs with plain Node, without tsweb or Vite
 * installed; `client/` has the browser's files.
 *
 * The server goes first: only the views that its pages can show are built for the browser.
 *
 * @param root the application's folder
 */
export async function build(root: string): Promise<void> {
  const entry = findEntry(root);
  process.chdir(root);
  const outDir = join(root, "dist");
  // Made beside it, so that a build that fails leaves the last one as it was.
  const making = join(root, `.dist-${process.pid}`);
  try {
    await buildInto(making, { root, entry });
    await rm(outDir, { recursive: true, force: true });
    await rename(making, outDir);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  console.log("\n  Built into dist. Serve it: tsweb serve, or node dist/server.mjs\n");
}

async function buildInto(outDir: string, { root, entry }: { root: string; entry: string }): Promise<void> {
  const server = serverBuild({ root, entry, outDir });
  const seenByServer = await run({ ...server.config, plugins: [server.plugin] }, entry).catch((error: unknown) => {
    throw server.lacksDefault() ? new BuildError(noApplication(fileOf(root, entry)), { cause: error }) : error;
  });
  const found = whatPagesNeed(root, entry, server.graph(), seenByServer);

  const clientDir = join(outDir, "client");
  const client = clientBuild({ root, outDir: clientDir, found });
  const seenByClient = client.hasInputs
    ? await run({ ...client.config, plugins: [emptyStyleSheets(), client.plugin] }, entry)
    : undefined;
  await writeAssets(clientDir, server.assets());
  const stubs = seenByClient?.stubs() ?? [];
  const manifest: Manifest = { ...(await client.manifest(stubs)), assetBase: server.assetBase };

  await compressFiles(clientDir, manifest.files);
  await copyNativePackages(server.nativePackages(), outDir);
  await writeServer(outDir, manifest);
}

/** Runs one of the two builds, and gives what the compile step saw in it. */
async function run(config: InlineConfig, entry: string): Promise<Registry> {
  const compile = tsweb({ entry });
  await viteBuild({ ...config, plugins: [compile, config.plugins] }).catch((error: unknown) => {
    throw explainBuild(error, config.root ?? process.cwd());
  });
  const registry = registryOf({ plugins: compile });
  if (!registry) throw new Error("The compile step is not among its own plugins."); // a defect of ours
  return registry;
}

async function writeAssets(folder: string, assets: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  for (const [name, source] of assets) {
    const file = join(folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, source);
  }
}

function whatPagesNeed(root: string, entry: string, graph: ServerGraph, seen: Registry): Found {
  const styles: Record<string, string[]> = {};
  for (const id of graph.modules) {
    if (SERVER_MODULE.test(id)) styles[fileOf(root, id)] = styleSheetsOf(id, graph);
  }
  const views = [...new Set(seen.views().map(({ file }) => join(root, file)))];
  return { views, shared: sharedModules(views, graph), styles, appStyles: appStyleSheets(entry, graph) };
}

import { rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { build as viteBuild } from "vite";
import { tsweb } from "../compile/index.ts";
import type { Manifest } from "../manifest.ts";
import { clientBuild } from "./build-client.ts";
import { type ServerGraph, serverBuild } from "./build-server.ts";
import { compressFiles } from "./compress.ts";
import { appStyleSheets, styleSheetsOf } from "./graph.ts";
import { copyNativePackages } from "./native.ts";
import { fileOf, findEntry, SERVER_MODULE } from "./project.ts";
import { emptyStyleSheets } from "./styles.ts";
import { writeServer } from "./write-server.ts";

/** What the server's build found out for the browser's. */
export interface Found {
  /** The modules whose views pages show, as absolute paths. */
  readonly views: readonly string[];
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
  await rm(outDir, { recursive: true, force: true });

  const server = serverBuild({ root, entry, outDir });
  await viteBuild({ ...server.config, plugins: [tsweb({ entry }), server.plugin] });
  const found = whatPagesNeed(root, entry, server.graph());

  const clientDir = join(outDir, "client");
  const client = clientBuild({ root, outDir: clientDir, found });
  if (client.hasInputs)
    await viteBuild({ ...client.config, plugins: [tsweb({ entry }), emptyStyleSheets(), client.plugin] });
  const manifest: Manifest = await client.manifest();

  await compressFiles(clientDir, manifest.files);
  await copyNativePackages(server.nativePackages(), outDir);
  await writeServer(outDir, manifest);
  console.log(
    `\n  Built into ${relative(process.cwd(), outDir) || outDir}. Serve it: tsweb serve, or node dist/server.mjs\n`,
  );
}

function whatPagesNeed(root: string, entry: string, graph: ServerGraph): Found {
  const styles: Record<string, string[]> = {};
  for (const id of graph.modules) {
    if (SERVER_MODULE.test(id)) styles[fileOf(root, id)] = styleSheetsOf(id, graph);
  }
  return { views: graph.views, styles, appStyles: appStyleSheets(entry, graph) };
}

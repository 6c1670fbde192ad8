import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Manifest } from "../server/index.ts";

const SERVER = `// Serves the application until it is told to stop: node server.mjs
import { isSupervisor, supervise } from "./workers.mjs";

process.setSourceMapsEnabled(true);
try {
  // The process above the others has no need of the application: what it does at its start is done by those.
  const workers = Number(process.env.WEB_WORKERS ?? 1);
  if (isSupervisor(workers)) await supervise(workers);
  else await start();
} catch (error) {
  // These say all there is to say, and what to do.
  const told = error?.name === "ConfigError" || error?.name === "ListenError";
  console.error(told ? error.message : error);
  process.exit(1);
}

async function start() {
  const { default: app, serve } = await import("./app.mjs");
  await serve(app);
}
`;

/** It needs nothing but Node, and goes as it is. */
const WORKERS = "../adapters/workers.js";

/** Writes the files of the built server that no bundler makes: its start, and what it knows of the browser's files. */
export async function writeServer(outDir: string, manifest: Manifest): Promise<void> {
  await writeFile(join(outDir, "server.mjs"), SERVER);
  await copyFile(fileURLToPath(new URL(WORKERS, import.meta.url)), join(outDir, "workers.mjs"));
  await writeFile(join(outDir, "manifest.mjs"), `export const built = ${JSON.stringify(manifest, null, 2)};\n`);
}

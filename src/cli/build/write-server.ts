import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Manifest } from "../../server/index.ts";

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
  "metrics-relay.mjs": "../../metrics/relay.js",
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

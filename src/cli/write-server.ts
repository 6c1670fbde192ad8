import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../manifest.ts";

const SERVER = `// Serves the application until it is told to stop: node server.mjs
process.setSourceMapsEnabled(true);
try {
  const { default: app, serve } = await import("./app.mjs");
  await serve(app);
} catch (error) {
  // These say all there is to say, and what to do.
  const told = error?.name === "ConfigError" || error?.name === "ListenError";
  console.error(told ? error.message : error);
  process.exit(1);
}
`;

/** Writes the files of the built server that no bundler makes: its start, and what it knows of the browser's files. */
export async function writeServer(outDir: string, manifest: Manifest): Promise<void> {
  await writeFile(join(outDir, "server.mjs"), SERVER);
  await writeFile(join(outDir, "manifest.mjs"), `export const built = ${JSON.stringify(manifest, null, 2)};\n`);
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BuildError } from "./project.ts";

/**
 * Serves a built application: the same as `node dist/server.mjs`, which needs no tsweb installed.
 *
 * @param folder what `tsweb build` made
 */
export async function serveBuilt(folder: string): Promise<void> {
  const server = join(folder, "server.mjs");
  if (!existsSync(server)) {
    throw new BuildError(`There is no built application in ${folder}. Build it first: tsweb build`);
  }
  await import(pathToFileURL(server).href);
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BuildError } from "./project/index.ts";

/**
 * Serves a built application, like `node dist/server.mjs`, which needs no tsweb installed.
 *
 * @param folder the output of `tsweb build`
 * @throws BuildError when there is no built application in the folder
 */
export async function serveBuilt(folder: string): Promise<void> {
  const server = join(folder, "server.mjs");
  if (!existsSync(server)) {
    throw new BuildError(`No built application in ${folder}: server.mjs does not exist. Build it first: tsweb build`);
  }
  await import(pathToFileURL(server).href);
}

import { posix } from "node:path";
import type { ViteDevServer } from "vite";
import { registryOf } from "../compile/index.ts";
import type { Called } from "../server/index.ts";
import { graphOf } from "./dev-assets.ts";
import { broughtBy } from "./graph.ts";

/**
 * Gives the server functions that the browser's code calls as it is now. What a module called before
 * it was edited counts no longer, nor what one calls that nothing in the application imports any more:
 * no browser would load it again and so have it corrected.
 */
export function calledNow({ config, environments }: ViteDevServer, entry: string): Called[] {
  const { client, ssr } = environments;
  const used = broughtBy(entry, graphOf(ssr));
  const isCompiled = (file: string) =>
    [...(client.moduleGraph.getModulesByFile(file) ?? [])].some(({ transformResult }) => transformResult !== null);
  return (registryOf(config)?.stubs() ?? []).filter(({ importer }) => {
    const file = posix.join(config.root, importer);
    return used.has(file) && isCompiled(file);
  });
}

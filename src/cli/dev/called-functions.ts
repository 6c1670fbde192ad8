import { posix } from "node:path";
import type { ViteDevServer } from "vite";
import type { BuildRegistry } from "../../compile/index.ts";
import type { CalledFunction } from "../../server/index.ts";
import { importedModules } from "../modules/index.ts";
import { moduleGraphOf } from "./assets.ts";

/**
 * Returns the server functions that the current browser code calls.
 *
 * The registry also has the calls of a module before its last edit, and of modules that nothing imports any more: no
 * browser loads those again, so that they would not be compiled again. Both are left out.
 */
export function calledFunctions(
  { config, environments }: ViteDevServer,
  { entry, registry }: { entry: string; registry: BuildRegistry },
): CalledFunction[] {
  const { client, ssr } = environments;
  const imported = importedModules(entry, moduleGraphOf(ssr));
  const isCompiled = (file: string) =>
    [...(client.moduleGraph.getModulesByFile(file) ?? [])].some(({ transformResult }) => transformResult !== null);
  return registry.stubs().filter(({ importer }) => {
    const file = posix.join(config.root, importer);
    return imported.has(file) && isCompiled(file);
  });
}

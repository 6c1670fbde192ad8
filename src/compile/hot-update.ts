import type { DevEnvironment, EnvironmentModuleNode, HotUpdateOptions } from "vite";
import { isServerModule } from "./modules/index.ts";
import { isStubId } from "./stubs.ts";

/**
 * Decides what happens after a file was edited. A module of the browser is updated in place. A server module, or
 * another module that only the server loads, reloads the page, because the page was rendered with it.
 *
 * @returns the modules to update in the browser; `undefined` for Vite's default
 */
export function hotUpdate(environment: DevEnvironment, update: HotUpdateOptions): EnvironmentModuleNode[] | undefined {
  if (environment.name === "ssr") findLostImporters(environment);
  // On the server, imports are checked against the exports of all modules.
  if (update.type === "delete" || environment.name === "ssr") invalidateWithImporters(environment, update.modules);
  if (environment.name === "client") {
    if (isServerModule(update.file, environment.config.root)) {
      invalidateStubs(environment, update.timestamp);
      return [];
    }
    // The server module of a stub may be saved together with this file, and reported after it.
    renewStubs(environment, update.timestamp);
    return undefined;
  }
  const client = update.server.environments.client;
  // Without an id, it is no module, but a file on which one depends: the style sheet of Tailwind depends on all files.
  const isInBrowser = [...(client?.moduleGraph.getModulesByFile(update.file) ?? [])].some(({ id }) => id !== null);
  const isServerOnly =
    isServerModule(update.file, environment.config.root) || (update.modules.length > 0 && !isInBrowser);
  if (client && isServerOnly) client.hot.send({ type: "full-reload", path: "*" });
  return undefined;
}

/**
 * Adds each module to the importers of the modules that its code imports. Vite may have lost some: when an edit overtakes the
 * transformation of a module, Vite discards the outdated code, but keeps the outdated imports.
 */
function findLostImporters({ moduleGraph }: DevEnvironment): void {
  for (const importer of moduleGraph.idToModuleMap.values()) {
    const { deps = [], dynamicDeps = [] } = importer.transformResult ?? {};
    for (const url of [...deps, ...dynamicDeps]) moduleGraph.urlToModuleMap.get(url)?.importers.add(importer);
  }
}

/**
 * Invalidates modules and their importers. After a file is deleted, Vite keeps the importers, although their
 * specifier `./words` may now resolve to another file.
 */
function invalidateWithImporters(environment: DevEnvironment, modules: readonly EnvironmentModuleNode[]): void {
  for (const module of modules) {
    for (const node of [module, ...module.importers]) environment.moduleGraph.invalidateModule(node);
  }
}

/**
 * Invalidates all stubs and their importers, because imports are checked against the exports of server modules.
 * One server module may re-export functions of another, so the edited one is not enough.
 */
function invalidateStubs(environment: DevEnvironment, timestamp: number): void {
  renewStubs(environment, timestamp);
  invalidateWithImporters(environment, stubsIn(environment));
}

/**
 * Gives all stubs a new URL: a view that is updated before the page is reloaded imports them with the functions that they have
 * now. A browser does not load the module of a URL again.
 *
 * Their importers stay valid, other than with `invalidateModule`: the development server leaves out the calls of modules that are
 * not compiled, and views that were not edited would exist twice.
 */
function renewStubs({ moduleGraph }: DevEnvironment, timestamp: number): void {
  for (const stub of stubsIn({ moduleGraph })) {
    const etag = stub.transformResult?.etag;
    if (etag !== undefined) moduleGraph.etagToModuleMap.delete(etag); // no request gets 304 for the earlier functions
    stub.transformResult = null;
    stub.lastHMRTimestamp = timestamp;
  }
}

function stubsIn({ moduleGraph }: Pick<DevEnvironment, "moduleGraph">): EnvironmentModuleNode[] {
  return [...moduleGraph.idToModuleMap.values()].filter(({ id }) => id !== null && isStubId(id));
}

import type { DevEnvironment, EnvironmentModuleNode, HotUpdateOptions } from "vite";
import { isServerModule } from "./parse.ts";
import { isStubId } from "./stubs.ts";

/**
 * Decides what an edited file does. A view changes on the screen and keeps its state. A server module,
 * and whatever else only the server runs, reloads the page: what it showed came from there.
 *
 * @returns the modules to update in the browser; `undefined` leaves it to Vite
 */
export function hotUpdate(environment: DevEnvironment, update: HotUpdateOptions): EnvironmentModuleNode[] | undefined {
  if (update.type === "delete") forget(environment, update.modules);
  if (environment.name === "client") {
    if (!isServerModule(update.file)) return undefined;
    forgetStubs(environment);
    return [];
  }
  const client = update.server.environments.client;
  const isShown = (client?.moduleGraph.getModulesByFile(update.file)?.size ?? 0) > 0;
  const isServers = isServerModule(update.file) || (update.modules.length > 0 && !isShown);
  if (client && isServers) client.hot.send({ type: "full-reload", path: "*" });
  return undefined;
}

/**
 * Has modules, and what imports them, compiled again. Of a file that is gone the build tool would keep
 * its importers as they are, although `./words` may mean another file now.
 */
function forget(environment: DevEnvironment, modules: readonly EnvironmentModuleNode[]): void {
  for (const module of modules) {
    for (const each of [module, ...module.importers]) environment.moduleGraph.invalidateModule(each);
  }
}

/**
 * What imports stubs was checked against the server modules as they were, so it is compiled again too.
 * Of all of them: one module may hand on what another has.
 */
function forgetStubs(environment: DevEnvironment): void {
  const modules = [...environment.moduleGraph.idToModuleMap.values()];
  forget(
    environment,
    modules.filter(({ id }) => id !== null && isStubId(id)),
  );
}

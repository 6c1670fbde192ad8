import type { DevEnvironment, EnvironmentModuleNode, HotUpdateOptions } from "vite";
import { isServerModule } from "./parse.ts";
import { stubId } from "./stubs.ts";

/**
 * Decides what an edited file does. A view changes on the screen and keeps its state. A server module,
 * and whatever else only the server runs, reloads the page: what it showed came from there.
 *
 * @returns the modules to update in the browser; `undefined` leaves it to Vite
 */
export function hotUpdate(
  environment: DevEnvironment,
  update: HotUpdateOptions,
  root: string,
): EnvironmentModuleNode[] | undefined {
  if (environment.name === "client") {
    if (!isServerModule(update.file)) return undefined;
    forgetStubs(environment, stubId(update.file, root));
    return [];
  }
  const client = update.server.environments.client;
  const isShown = (client?.moduleGraph.getModulesByFile(update.file)?.size ?? 0) > 0;
  const isServers = isServerModule(update.file) || (update.modules.length > 0 && !isShown);
  if (client && isServers) client.hot.send({ type: "full-reload", path: "*" });
  return undefined;
}

/** What imports a stub was checked against the server module as it was, so it is compiled again too. */
function forgetStubs(environment: DevEnvironment, id: string): void {
  const stubs = environment.moduleGraph.getModuleById(id);
  if (!stubs) return;
  for (const importer of stubs.importers) environment.moduleGraph.invalidateModule(importer);
  environment.moduleGraph.invalidateModule(stubs);
}

import type { Plugin, ResolvedConfig } from "vite";

/**
 * Resolves an import again that was not found. Vite caches that a file was not found until it is notified of a new
 * file, and may miss that. Its resolver for imports in style sheets is never notified.
 */
export function retryFailedResolves(): Plugin {
  return {
    name: "tsweb:retry-failed-resolves",
    enforce: "post",
    configResolved: retryInStyleSheets,
    async resolveId(source, importer, options) {
      if (this.environment.mode !== "dev") return undefined;
      // Called when no other plugin has resolved it. A notification about any file empties the resolver's cache.
      await this.environment.pluginContainer.watchChange(importer ?? source, { event: "create" });
      return this.resolve(source, importer, { ...options, skipSelf: true });
    },
  };
}

/** Replaces a resolver that found nothing by a new one, because its cache cannot be emptied in another way. */
function retryInStyleSheets(config: ResolvedConfig): void {
  const create = config.createResolver.bind(config);
  const createResolver: typeof create = (options) => {
    let resolve = create(options);
    return async (...request) => {
      const resolved = await resolve(...request);
      if (resolved !== undefined) return resolved;
      resolve = create(options);
      return resolve(...request);
    };
  };
  Object.assign(config, { createResolver });
}

/**
 * Rejects an import of a missing image or other asset on the server, in the words of Vite's runner for a missing module.
 * Vite itself would return a URL of the missing file.
 */
export function rejectMissingAssets(): Plugin {
  return {
    name: "tsweb:reject-missing-assets",
    enforce: "pre",
    applyToEnvironment: (environment) => environment.name === "ssr",
    load(id) {
      // An id is absolute once it is resolved.
      if (!/^\.{1,2}\//.test(id) || this.environment.mode !== "dev") return undefined;
      const [importer] = this.environment.moduleGraph.getModuleById(id)?.importers ?? [];
      if (!importer?.id) return undefined;
      const error = new Error(`Failed to load url ${id} (resolved id: ${id}) in ${importer.id}. Does the file exist?`);
      throw Object.assign(error, { code: "ERR_LOAD_URL" });
    },
  };
}

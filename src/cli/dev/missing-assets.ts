import type { Plugin } from "vite";

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

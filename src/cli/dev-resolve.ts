import type { Plugin, ResolvedConfig } from "vite";

/**
 * Looks once more for what was not found. The build tool remembers what it did not find until it hears
 * of a new file, and may miss that one; what finds the files that style sheets import never hears of any.
 */
export function lookAgain(): Plugin {
  return {
    name: "tsweb:look-again",
    enforce: "post",
    configResolved: findForStyleSheets,
    async resolveId(source, importer, options) {
      if (this.environment.mode !== "dev") return undefined;
      // Reached when nothing else has found it. Of whatever file this is told, it empties the resolver's cache.
      await this.environment.pluginContainer.watchChange(importer ?? source, { event: "create" });
      return this.resolve(source, importer, { ...options, skipSelf: true });
    },
  };
}

/** Has a resolver that found nothing replaced, since no other way empties its cache. */
function findForStyleSheets(config: ResolvedConfig): void {
  const create = config.createResolver.bind(config);
  const createResolver: typeof create = (options) => {
    let resolve = create(options);
    return async (...wanted) => {
      const found = await resolve(...wanted);
      if (found !== undefined) return found;
      resolve = create(options);
      return resolve(...wanted);
    };
  };
  Object.assign(config, { createResolver });
}

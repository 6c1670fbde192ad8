import { normalizePath, type Rolldown } from "vite";
import type { ModuleCache } from "./module-cache.ts";
import type { ModuleResolver } from "./module-resolver.ts";
import type { PackageResolver } from "./other-frameworks.ts";

/** What is needed of the context of a plugin's hook. */
interface ResolvingContext extends Pick<Rolldown.PluginContext, "resolve"> {
  readonly environment: { readonly name: string };
}

/** Returns a resolver that finds modules as Vite does, by the context of a plugin's hook. */
export function viteResolver(context: ResolvingContext, modules: ModuleCache): ModuleResolver & PackageResolver {
  const resolve = (specifier: string, importer: string) =>
    modules.resolveOnce(`${context.environment.name}\0${importer}\0${specifier}`, () =>
      context.resolve(specifier, importer, { skipSelf: true }),
    );
  return {
    root: modules.root,
    resolve: async (specifier, importer) => {
      const resolved = await resolve(specifier, importer);
      return resolved && !resolved.external ? normalizePath(resolved.id) : undefined;
    },
    isMissing: async (specifier, importer) => (await resolve(specifier, importer)) === null,
    read: (id) => modules.readIfValid(id),
  };
}

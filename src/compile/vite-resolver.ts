import { normalizePath, type Rolldown } from "vite";
import type { ModuleCache } from "./module-cache.ts";
import type { ModuleResolver } from "./modules/index.ts";
import type { PackageResolver } from "./rules/index.ts";

/** What is needed of the context of a plugin's hook. */
interface ResolvingContext extends Pick<Rolldown.PluginContext, "resolve"> {
  readonly environment: { readonly name: string };
}

/** Resolves an import statement as Vite does, each once in a build. */
export function resolveImport(
  context: ResolvingContext,
  modules: ModuleCache,
  { specifier, importer }: { readonly specifier: string; readonly importer: string },
): Promise<Rolldown.ResolvedId | null> {
  const key = `${context.environment.name}\0${importer}\0${specifier}`;
  return modules.resolveOnce(key, () => context.resolve(specifier, importer, { skipSelf: true }));
}

/** A resolver of one of Vite's environments. */
export interface ViteResolver extends ModuleResolver, PackageResolver {
  /** The name of the environment. */
  readonly environment: string;
}

/** Returns a resolver that finds modules as Vite does, by the context of a plugin's hook. */
export function viteResolver(context: ResolvingContext, modules: ModuleCache): ViteResolver {
  const resolve = (specifier: string, importer: string) => resolveImport(context, modules, { specifier, importer });
  return {
    root: modules.root,
    environment: context.environment.name,
    resolve: async (specifier, importer) => {
      const resolved = await resolve(specifier, importer);
      return resolved && !resolved.external ? normalizePath(resolved.id) : undefined;
    },
    isMissing: async (specifier, importer) => (await resolve(specifier, importer)) === null,
    read: (id) => modules.readWritten(id),
  };
}

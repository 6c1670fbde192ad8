/**
 * The `paths` of tsconfig.json, such as `@/*`. Vite applies them to the modules that a tsconfig.json includes. Here they
 * also apply to the project's other modules, such as scripts and JavaScript, with the tsconfig.json of the application
 * module.
 */
import {
  BuildEnvironment,
  createIdResolver,
  type Environment,
  normalizePath,
  type Plugin,
  type ResolvedConfig,
  resolveConfig,
} from "vite";
import { applicationModule } from "./module-cache.ts";
import { isInNodeModules, stripQuery } from "./syntax/index.ts";

/** Returns the id that an import resolves to; `undefined` if there is none. */
type Resolve = (environment: Environment, specifier: string, importer: string) => Promise<string | undefined>;

/** Returns whether a specifier may be an alias: TypeScript never applies `paths` to relative and absolute paths. */
function mayBeAlias(specifier: string): boolean {
  return !/^(?:\.{0,2}\/|\.{1,2}$|\0|[a-z][a-z+.-]*:)/i.test(specifier);
}

/**
 * Returns the plugin that resolves an import in a module that no tsconfig.json includes.
 *
 * @param entry the application module, absolute or relative to the root
 */
export function tsconfigPaths(entry?: string): Plugin {
  const paths: { config?: ResolvedConfig; resolve?: Resolve | undefined } = {};
  return {
    name: "tsweb:tsconfig-paths",
    enforce: "post", // called when no other plugin has resolved the import
    sharedDuringBuild: true,
    configResolved(config) {
      paths.config = config;
      paths.resolve = undefined;
    },
    async resolveId(source, importer) {
      const from = importer && normalizePath(stripQuery(importer));
      const { config } = paths;
      if (!config?.resolve.tsconfigPaths || !from || isInNodeModules(from) || !mayBeAlias(source)) return undefined;
      const application = applicationModule(normalizePath(config.root), entry);
      if (!application || from === application) return undefined;
      paths.resolve ??= createIdResolver(config);
      const id = await paths.resolve(this.environment, source, application);
      if (isProjectFile(id)) return id;
      paths.resolve = undefined; // its cache of missing files cannot be emptied
      return undefined;
    },
  };
}

/**
 * Returns a function that returns the file that an alias names: a link and not its target. For an import without an alias,
 * it returns the specifier.
 */
export function aliasedFileNames(
  config: ResolvedConfig,
): (environment: Environment, specifier: string, importer: string) => Promise<string> {
  const resolve: Resolve = createIdResolver(config, { preserveSymlinks: true });
  return async (environment, specifier, importer) => {
    if (!mayBeAlias(specifier)) return specifier;
    const application = applicationModule(normalizePath(config.root)) ?? importer;
    const id =
      (await resolve(environment, specifier, importer)) ?? (await resolve(environment, specifier, application));
    return isProjectFile(id) ? normalizePath(id) : specifier;
  };
}

/** Returns the file that an import refers to by `paths`; `undefined` when they do not apply to it. */
export type PathsResolver = (specifier: string, importer: string) => Promise<string | undefined>;

/** Returns a resolver of `paths` that needs no running Vite. It is created once, at the first use. */
export function pathsResolver(root: string): PathsResolver {
  let resolvers: ReturnType<typeof createResolvers> | undefined;
  return async (specifier, importer) => {
    if (!mayBeAlias(specifier)) return undefined;
    resolvers ??= createResolvers(root);
    const { withPaths, withoutPaths } = await resolvers;
    const importers = [importer, applicationModule(root)].filter((file) => file !== undefined);
    for (const file of importers) {
      const resolved = await withPaths(specifier, file);
      if (!isProjectFile(resolved)) continue;
      // A linked package is a file of the project too. Node resolves it.
      return resolved === (await withoutPaths(specifier, file)) ? undefined : normalizePath(stripQuery(resolved));
    }
    return undefined;
  };
}

async function createResolvers(root: string): Promise<{ withPaths: PathsResolver; withoutPaths: PathsResolver }> {
  const config = await resolveConfig({ root, configFile: false, envDir: false, environments: { ssr: {} } }, "build");
  const environment = new BuildEnvironment("ssr", config);
  const create = (isEnabled: boolean): PathsResolver => {
    const resolve = createIdResolver(config, { tsconfigPaths: isEnabled });
    return (specifier, importer) => resolve(environment, specifier, importer);
  };
  return { withPaths: create(true), withoutPaths: create(false) };
}

function isProjectFile(id: string | undefined): id is string {
  return id !== undefined && /^(?:\/|[a-z]:[\\/])/i.test(id) && !isInNodeModules(normalizePath(id));
}

import { type Endpoint, type ModuleFacts, type ModuleResolver, readModuleList } from "../modules/index.ts";
import { findModuleReferences } from "../syntax/index.ts";

/** A page or route of a listed module. */
interface ListedEndpoint {
  readonly module: ModuleFacts;
  /** The position of the module in the list. */
  readonly index: number;
  readonly endpoint: Endpoint;
}

/** The modules that an application lists, as far as its source shows them. */
export interface ListedModules {
  /** The application's module. */
  readonly entry: ModuleFacts;
  readonly modules: readonly ModuleFacts[];
  /** The position of each module in the list, by its file. */
  readonly indexByFile: ReadonlyMap<string, number>;
  /** The first page or route with each key, in the order of the list. */
  readonly endpoints: ReadonlyMap<string, ListedEndpoint>;
}

/** Reads the modules that an application lists. */
export async function readListedModules(entry: ModuleFacts, resolver: ModuleResolver): Promise<ListedModules> {
  const modules: ModuleFacts[] = [];
  const indexByFile = new Map<string, number>();
  const endpoints = new Map<string, ListedEndpoint>();
  for (const { source } of readModuleList(entry) ?? []) {
    const module = await resolver.read(await resolver.resolve(source, entry.source.file));
    if (!module || indexByFile.has(module.source.file)) continue;
    const index = modules.push(module) - 1;
    indexByFile.set(module.source.file, index);
    for (const endpoint of module.endpoints)
      if (!endpoints.has(endpoint.key)) endpoints.set(endpoint.key, { module, index, endpoint });
  }
  return { entry, modules, indexByFile, endpoints };
}

/** Bounds the time of the search in a large project. */
const MAX_MODULES = 500;

/** A reference of a module to another one, with the exported name: `"*"` for all of its exports. */
interface ModuleImport {
  readonly name: string;
  readonly importer: ModuleFacts;
}

/**
 * Returns the first value of a server module that a module with views imports by name; `undefined` when none is found.
 *
 * @param target the server module
 * @param roots the modules from which imports are followed
 */
export async function findBrowserImport(
  target: ModuleFacts,
  roots: readonly ModuleFacts[],
  resolver: ModuleResolver,
): Promise<ModuleImport | undefined> {
  for await (const found of importsOf(target, roots, resolver)) {
    const { name, importer } = found;
    if (name === "*" || name === "default") continue;
    if (!importer.isServerModule && importer.views.length > 0) return found;
  }
  return undefined;
}

/**
 * Yields the values that modules of an application import from one of them. The search ends after {@link MAX_MODULES}.
 *
 * @param target the module from which they are imported
 * @param roots the modules from which imports are followed
 */
export async function* importsOf(
  target: ModuleFacts,
  roots: readonly ModuleFacts[],
  resolver: ModuleResolver,
): AsyncGenerator<ModuleImport> {
  const queue = [...roots];
  const files = new Set(queue.map(({ source }) => source.file));
  for (let index = 0; index < Math.min(queue.length, MAX_MODULES); index++) {
    const importer = queue[index] as ModuleFacts; // the index is below the length
    for (const { specifier, kind, names, isType } of findModuleReferences(importer.scopes)) {
      if (isType || kind === "url") continue;
      const facts = await resolver.read(await resolver.resolve(specifier, importer.source.file));
      if (!facts) continue;
      if (facts.source.file === target.source.file) {
        if (kind !== "import" && kind !== "export") yield { name: "*", importer };
        else for (const { name, isType: isTypeName } of names) if (!isTypeName) yield { name, importer };
      } else if (!files.has(facts.source.file)) {
        files.add(facts.source.file);
        queue.push(facts);
      }
    }
  }
}

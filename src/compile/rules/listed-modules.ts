import { type Endpoint, type ModuleFacts, type ModuleResolver, readModuleList } from "../modules/index.ts";

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

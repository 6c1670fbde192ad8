import type { ModuleFacts, ModuleResolver } from "../modules/index.ts";
import { findModuleReferences } from "../syntax/index.ts";

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

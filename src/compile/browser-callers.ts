import type { ModuleFacts } from "./module-facts.ts";
import type { ModuleResolver } from "./module-resolver.ts";
import { findModuleReferences } from "./syntax/index.ts";

/** Bounds the time of the search in a large project. */
const MAX_MODULES = 500;

/** A value of a server module that a browser module imports. */
interface BrowserImport {
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
): Promise<BrowserImport | undefined> {
  const queue = [...roots];
  const files = new Set(queue.map(({ source }) => source.file));
  for (let index = 0; index < Math.min(queue.length, MAX_MODULES); index++) {
    const importer = queue[index] as ModuleFacts; // the index is below the length
    for (const { specifier, kind, names, isType } of findModuleReferences(importer.program)) {
      if (isType || (kind !== "import" && kind !== "export" && kind !== "export-all")) continue;
      const facts = await resolver.read(await resolver.resolve(specifier, importer.source.file));
      if (!facts) continue;
      if (facts.source.file === target.source.file) {
        const named = names.find((name) => !name.isType && name.name !== "*" && name.name !== "default");
        if (named && !importer.isServerModule && importer.views.length > 0) return { name: named.name, importer };
      } else if (!files.has(facts.source.file)) {
        files.add(facts.source.file);
        queue.push(facts);
      }
    }
  }
  return undefined;
}

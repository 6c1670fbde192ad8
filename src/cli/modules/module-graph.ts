import { isServerModule } from "../../compile/index.ts";
import { STYLE_SHEET } from "../project/index.ts";

/** Which module imports which, in one build or one development server. */
export interface ModuleGraph {
  /** Returns the modules that a module imports, in the order of its imports. */
  imports(id: string): readonly string[];
}

/**
 * Returns the style sheets that a module imports, directly or through other modules, in the order in which they run.
 *
 * @param follow returns whether the imports of an imported module are included. Default: of every module
 */
export function styleSheetsOf(id: string, graph: ModuleGraph, follow: (id: string) => boolean = () => true): string[] {
  const sheets = new Set<string>();
  const visited = new Set<string>();
  const visit = (module: string) => {
    if (visited.has(module)) return;
    visited.add(module);
    for (const imported of graph.imports(module)) {
      if (STYLE_SHEET.test(imported)) sheets.add(imported);
      else if (follow(imported)) visit(imported);
    }
  };
  visit(id);
  return [...sheets];
}

/** Returns the style sheets of every page: those that the application module imports, other than through its pages. */
export function appStyleSheets(entry: string, { root, graph }: { root: string; graph: ModuleGraph }): string[] {
  return styleSheetsOf(entry, graph, (id) => !isServerModule(id, root));
}

/**
 * Returns the scripts that each module of `ids` imports, directly or through others, without those of `ids`. A CSS module
 * is not one of them: Vite's manifest has its style sheet only if it is in a chunk of its own.
 */
export function sharedModules(ids: readonly string[], graph: ModuleGraph): string[] {
  const [first = new Set<string>(), ...rest] = ids.map((id) => importedModules(id, graph));
  const isShared = (id: string) => rest.every((imported) => imported.has(id)) && !ids.includes(id);
  return [...first].filter((id) => isShared(id) && !STYLE_SHEET.test(id));
}

/** Returns the modules that a module imports, directly or through others. */
export function importedModules(id: string, graph: ModuleGraph): Set<string> {
  const modules = new Set<string>();
  const visit = (module: string) => {
    for (const imported of graph.imports(module)) {
      if (modules.has(imported)) continue;
      modules.add(imported);
      visit(imported);
    }
  };
  visit(id);
  return modules;
}

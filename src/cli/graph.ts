import { SERVER_MODULE, STYLE_SHEET } from "./project.ts";

/** What is imported by what, in one build or one development server. */
export interface ModuleGraph {
  /** The modules that a module imports, in the order in which it does. */
  imports(id: string): readonly string[];
}

/**
 * Gives the style sheets that a module brings with it: all that it imports, however far down, in
 * the order in which they run.
 *
 * @param through whether to look behind an import; by default everywhere
 */
export function styleSheetsOf(id: string, graph: ModuleGraph, through: (id: string) => boolean = () => true): string[] {
  const found = new Set<string>();
  const seen = new Set<string>();
  const visit = (module: string) => {
    if (seen.has(module)) return;
    seen.add(module);
    for (const imported of graph.imports(module)) {
      if (STYLE_SHEET.test(imported)) found.add(imported);
      else if (through(imported)) visit(imported);
    }
  };
  visit(id);
  return [...found];
}

/** The style sheets of every page: what the application's own module brings, its pages aside. */
export function appStyleSheets(entry: string, graph: ModuleGraph): string[] {
  return styleSheetsOf(entry, graph, (id) => !SERVER_MODULE.test(id));
}

/** Gives the modules that every one of these brings with it, themselves aside. */
export function sharedModules(ids: readonly string[], graph: ModuleGraph): string[] {
  const [first = new Set<string>(), ...others] = ids.map((id) => broughtBy(id, graph));
  return [...first].filter((id) => others.every((brought) => brought.has(id)) && !ids.includes(id));
}

/** Gives the modules that a module brings with it: all that it imports, however far down. */
export function broughtBy(id: string, graph: ModuleGraph): Set<string> {
  const brought = new Set<string>();
  const visit = (module: string) => {
    for (const imported of graph.imports(module)) {
      if (brought.has(imported)) continue;
      brought.add(imported);
      visit(imported);
    }
  };
  visit(id);
  return brought;
}

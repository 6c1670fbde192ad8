import { isServerModule } from "../../compile/index.ts";
import { STYLE_SHEET } from "../project/index.ts";

/** Which module imports which, in one build or one development server. */
export interface ModuleGraph {
  /** Returns the modules that a module imports by statements, in the order of its imports. */
  imports(id: string): readonly string[];
  /** Returns the modules that a module imports by `import()`. */
  dynamicImports(id: string): readonly string[];
}

/** Which modules {@link styleSheetsOf} follows. */
export interface StyleSheetSearch {
  /** Returns whether the imports of an imported module are included. Default: of every module. */
  readonly follow?: (id: string) => boolean;
  /** Returns whether a module has views: the browser runs it, and all that it imports. */
  readonly isView: (id: string) => boolean;
}

/**
 * Returns the style sheets that a page links for a module: those that it imports, directly or through other modules, in the
 * order in which they run. A sheet that code of the browser imports by `import()` is left out: the browser loads it when that
 * code runs.
 */
export function styleSheetsOf(
  id: string,
  graph: ModuleGraph,
  { follow = () => true, isView }: StyleSheetSearch,
): string[] {
  const sheets = new Set<string>();
  const visited = { server: new Set<string>(), browser: new Set<string>() };
  const visit = (module: string, isImportedByView: boolean) => {
    const isBrowserCode = isImportedByView || isView(module);
    const side = visited[isBrowserCode ? "browser" : "server"];
    if (side.has(module)) return;
    side.add(module);
    const visitImport = (imported: string, isLinked: boolean) => {
      if (!STYLE_SHEET.test(imported)) return follow(imported) ? visit(imported, isBrowserCode) : undefined;
      if (isLinked) sheets.add(imported);
    };
    for (const imported of graph.imports(module)) visitImport(imported, true);
    for (const imported of graph.dynamicImports(module)) visitImport(imported, !isBrowserCode);
  };
  visit(id, false);
  return [...sheets];
}

/** Returns the style sheets of every page: those that the application module imports, other than through its pages. */
export function appStyleSheets(
  entry: string,
  { root, graph, isView }: { root: string; graph: ModuleGraph } & Pick<StyleSheetSearch, "isView">,
): string[] {
  return styleSheetsOf(entry, graph, { isView, follow: (id) => !isServerModule(id, root) });
}

/**
 * Returns the scripts that each module of `ids` imports by statements, directly or through others, without those of `ids`. A CSS module
 * is not one of them: Vite's manifest has its style sheet only if it is in a chunk of its own.
 */
export function sharedModules(ids: readonly string[], graph: ModuleGraph): string[] {
  const [first = new Set<string>(), ...rest] = ids.map((id) => reachable(id, (each) => graph.imports(each)));
  const isShared = (id: string) => rest.every((imported) => imported.has(id)) && !ids.includes(id);
  return [...first].filter((id) => isShared(id) && !STYLE_SHEET.test(id));
}

/** Returns the modules that a module imports by statements or `import()`, directly or through others. */
export function importedModules(id: string, graph: ModuleGraph): Set<string> {
  return reachable(id, (each) => [...graph.imports(each), ...graph.dynamicImports(each)]);
}

function reachable(id: string, imports: (id: string) => readonly string[]): Set<string> {
  const modules = new Set<string>();
  const visit = (module: string) => {
    for (const imported of imports(module)) {
      if (modules.has(imported)) continue;
      modules.add(imported);
      visit(imported);
    }
  };
  visit(id);
  return modules;
}

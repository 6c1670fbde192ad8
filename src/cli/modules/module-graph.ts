import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { normalizePath } from "vite";
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

/** A file of the project, with forward slashes in its absolute path. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
}

const SCRIPT = /(?<!\.(?:test|spec|d))\.[jt]sx?$/;

/**
 * Returns the files below `src/` whose name matches; none if there is no such folder.
 *
 * @param name the names of the files. Default: scripts, without tests and declarations
 */
export async function readSourceFiles(root: string, name: RegExp = SCRIPT): Promise<SourceText[]> {
  const entries = await readdir(join(root, "src"), { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => normalizePath(join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes("/node_modules/"));
  // A file may have been deleted since.
  return Promise.all(files.map(async (file) => ({ file, text: await readFile(file, "utf8").catch(() => "") })));
}

/** Returns a text of the same length and lines in which blocks of comments and lines of comments are blank. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*.*?\*\/|^\s*\/\/[^\n]*/gms, (comment) => comment.replace(/[^\n]/g, " "));
}

/** Returns the line of an index of a text, from 1. */
export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

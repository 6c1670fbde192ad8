import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { normalizePath, type Plugin } from "vite";
import { isServerModule, namesServerOnlyUrl } from "../../compile/index.ts";
import { filesBelow, relativeFile, STYLE_SHEET } from "../project/index.ts";

/** The module with the script of pages. */
export const ISLANDS = "virtual:tsweb/islands";

/** What the script of a part imports to start its views. A module of its own: exports of the page script would cost every page. */
export const PART_VIEWS = "virtual:tsweb/part-views";

/** The code of these modules, in development and in a build. */
export const PAGE_MODULES: Readonly<Record<string, string>> = {
  [ISLANDS]: 'import "tsweb/islands";',
  [PART_VIEWS]: 'export { comments, startView } from "tsweb/islands";',
};

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
  const [first = new Set<string>(), ...rest] = ids.map((id) =>
    reachable(graph.imports(id), (each) => graph.imports(each)),
  );
  const isShared = (id: string) => rest.every((imported) => imported.has(id)) && !ids.includes(id);
  return [...first].filter((id) => isShared(id) && !STYLE_SHEET.test(id));
}

/** Returns the modules that a module imports by statements or `import()`, directly or through others. */
export function importedModules(id: string, graph: ModuleGraph): Set<string> {
  const importsOf = (each: string) => [...graph.imports(each), ...graph.dynamicImports(each)];
  return reachable(importsOf(id), importsOf);
}

/** Returns what can be reached from some modules or files, with these. */
export function reachable(entries: readonly string[], next: (entry: string) => readonly string[]): Set<string> {
  const found = new Set(entries);
  for (const entry of found) for (const following of next(entry)) found.add(following); // also visits what is added
  return found;
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
  const files = (filesBelow(join(root, "src")) ?? []).filter((file) => name.test(file)).map(normalizePath);
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

const CSS_MODULE = /\.module\.\w+$/;

const EMPTY = "\0tsweb:style-sheet";

/** Added to the URL of a style sheet in an `import()`, in development. `STYLE_SHEET` does not match such a URL. */
const ON_DEMAND = "?on-demand";

/** An `import()` of a literal. */
const DYNAMIC_IMPORT = /\bimport\(\s*(?:\/\*.*?\*\/\s*)?["'`]([^"'`\n]+)["'`]\s*\)/g;

/**
 * Removes imports of style sheets from scripts. Pages link every sheet that their modules import, so that it applies
 * before the first paint, also without scripts. CSS modules stay: views need their class names. A sheet in an `import()` stays
 * too: it applies from when the script imports it.
 */
export function emptyStyleSheets(): Plugin[] {
  const isBrowser: Plugin["applyToEnvironment"] = (environment) => environment.name === "client";
  return [
    {
      name: "tsweb:style-sheets",
      enforce: "pre",
      applyToEnvironment: isBrowser,
      resolveId: {
        filter: { id: { include: STYLE_SHEET, exclude: CSS_MODULE } },
        handler(_source, importer, { kind }) {
          // A sheet that another sheet imports, and one that is an input of the build, are kept.
          const isScriptImport = importer !== undefined && !STYLE_SHEET.test(importer);
          return isScriptImport && kind !== "dynamic-import" ? EMPTY : undefined;
        },
      },
      load: {
        filter: { id: new RegExp(`^${EMPTY}$`) },
        handler: () => "",
      },
      hotUpdate({ file, modules }) {
        // A view that imports a CSS module replaces it by itself. The linked sheet accepts no update and would reload
        // the page.
        const scripts = modules.filter(({ url }) => !/[?&]direct\b/.test(url));
        return CSS_MODULE.test(file) && scripts.length > 0 ? scripts : undefined;
      },
    },
    {
      // The development server does not pass the kind of an import to `resolveId`, so that the URL has to tell it.
      name: "tsweb:style-sheets-on-demand",
      enforce: "post", // after `import.meta.glob` was replaced by imports
      apply: "serve",
      applyToEnvironment: isBrowser,
      transform(code) {
        const marked = code.replace(DYNAMIC_IMPORT, (text: string, url: string) =>
          STYLE_SHEET.test(url) && !CSS_MODULE.test(url) ? text.replace(url, `${url}${ON_DEMAND}`) : text,
        );
        return marked === code ? null : { code: marked, map: null }; // the lines stay the same
      },
    },
  ];
}

/** A `url(…)` in a style sheet of the project. */
interface FoundUrl {
  /** The style sheet, absolute, with forward slashes. */
  readonly file: string;
  /** The style sheet with the line: `src/style.css:3`. */
  readonly location: string;
  readonly url: string;
}

const URL_TOKEN = /\burl\(\s*(?<quote>["']?)(?<url>[^"'()\s\\]+)\k<quote>\s*\)/gi;

/** Returns each `url(…)` in the style sheets below `src/` that `isWanted` accepts. Those in comments are left out. */
export async function findStyleSheetUrls(root: string, isWanted: (url: string) => boolean): Promise<FoundUrl[]> {
  const sheets = await readSourceFiles(root, /\.(?:css|s[ac]ss|less|pcss|postcss)$/i);
  return sheets.flatMap(({ file, text }) => {
    const code = text.replace(/\/\*.*?\*\//gs, (comment) => comment.replace(/[^\n]/g, " "));
    return [...code.matchAll(URL_TOKEN)].flatMap(({ index, groups }) => {
      const url = groups?.url ?? "";
      return isWanted(url) ? [{ file, location: `${relativeFile(root, file)}:${lineAt(code, index)}`, url }] : [];
    });
  });
}

/** Returns what to do about a `url(…)` that leads to no file: what the style sheet probably means, or where to put the file. */
export function styleSheetUrlFix({ file, url }: FoundUrl, folders: { root: string; publicDir: string }): string {
  const root = normalizePath(folders.root);
  const publicDir = folders.publicDir && normalizePath(folders.publicDir);
  const path = url.replace(/[?#].*$/s, "");
  const isOwnFile = (candidate: string) =>
    candidate.startsWith(`${root}/`) &&
    !/\/(?:\.|node_modules\/)/.test(candidate.slice(root.length)) &&
    !namesServerOnlyUrl(candidate.slice(root.length), root) &&
    existsSync(candidate);
  const inProject = [posix.join(posix.dirname(file), path), posix.join(root, path)].find(isOwnFile);
  if (inProject !== undefined && publicDir && inProject.startsWith(`${publicDir}/`))
    return `${relativeFile(root, inProject)} is served at ${inProject.slice(publicDir.length)}: write url("${inProject.slice(publicDir.length)}").`;
  if (inProject !== undefined) {
    const relative = posix.relative(posix.dirname(file), inProject).replace(/^(?!\.)/, "./");
    return `For ${relativeFile(root, inProject)}, write url("${relative}").`;
  }
  const name = posix.basename(path);
  const relativeAdvice = `or write the path of a file beside the style sheet with a dot: url("./${name}").`;
  if (!publicDir) return `Correct the path, ${relativeAdvice}`;
  const target = posix.join(relativeFile(root, publicDir), path);
  return `Correct the path, put the file at ${target}, ${relativeAdvice}`;
}

import type { Rolldown } from "vite";
import type { BuildRegistry, PageViews } from "../../compile/index.ts";
import type { Manifest } from "../../server/index.ts";

/** A script of the browser's build. All paths start with a slash. */
export interface BuiltScript {
  readonly imports: readonly string[];
  /** The scripts that it loads on demand. */
  readonly dynamicImports: readonly string[];
  /** The code of its modules before it was minified, by their ids. */
  readonly modules: Readonly<Record<string, string>>;
}

/** The scripts and style sheets of the browser's build, by their paths. */
export interface BuiltFiles {
  readonly scripts: ReadonlyMap<string, BuiltScript>;
  /** The source files of style sheets, relative to the project's folder. */
  readonly styleSources: ReadonlyMap<string, string>;
}

/**
 * Reads the files of the browser's build.
 *
 * @param onDemand the files that modules load by their URL, by the modules' ids
 */
export function readBuiltFiles(bundle: Rolldown.OutputBundle, onDemand: ReadonlyMap<string, string>): BuiltFiles {
  const scripts = new Map<string, BuiltScript>();
  const styleSources = new Map<string, string>();
  for (const file of Object.values(bundle)) {
    const path = `/${file.fileName}`;
    if (file.type === "asset") {
      const [source] = file.originalFileNames;
      if (source !== undefined && file.fileName.endsWith(".css")) styleSources.set(path, source);
      continue;
    }
    const byUrl = file.moduleIds.flatMap((id) => onDemand.get(id) ?? []);
    // Vite has removed the scripts of style sheets in an `import()`: the browser loads the sheets only.
    const dynamicImports = [...file.dynamicImports, ...byUrl].filter((name) => name in bundle);
    scripts.set(path, {
      imports: file.imports.map((name) => `/${name}`),
      dynamicImports: dynamicImports.map((name) => `/${name}`),
      modules: Object.fromEntries(Object.entries(file.modules).map(([id, { code }]) => [id, code ?? ""])),
    });
  }
  return { scripts, styleSources };
}

/** The files that a browser loads for a page, by their paths below the browser's files. */
export interface PageFiles {
  readonly page: PageViews;
  /** What the document refers to, and what those scripts import. */
  readonly scripts: readonly string[];
  /** What the scripts load on demand, such as the code that sends forms. */
  readonly later: readonly string[];
  readonly styles: readonly string[];
}

/** A finished build of the browser's files, and the registry of the server's build. */
interface FinishedBuild {
  readonly manifest: Pick<Manifest, "islands" | "views" | "styles" | "appStyles">;
  readonly files: BuiltFiles;
  readonly registry: Pick<BuildRegistry, "pages" | "layoutViews">;
}

/** Returns the files of each page, if it renders all views that it can. */
export function filesOfPages({ manifest, files, registry }: FinishedBuild): PageFiles[] {
  return registry.pages().map((page) => {
    const views = [...page.views, ...(page.hasOwnLayout ? [] : registry.layoutViews())];
    const assets = [manifest.islands, ...views.map(({ file }) => manifest.views[file])].filter(
      (asset) => asset != null,
    );
    const entries = views.length > 0 ? assets.flatMap(({ src, preload }) => [src, ...preload]) : [];
    const scripts = reachable(entries, (path) => files.scripts.get(path)?.imports ?? []);
    const all = reachable(entries, (path) => {
      const { imports = [], dynamicImports = [] } = files.scripts.get(path) ?? {};
      return [...imports, ...dynamicImports];
    });
    const styles = new Set([...manifest.appStyles, ...(manifest.styles[page.file] ?? [])]);
    const later = [...all].filter((path) => !scripts.has(path));
    return { page, scripts: [...scripts], later, styles: [...styles] };
  });
}

function reachable(entries: readonly string[], next: (path: string) => readonly string[]): Set<string> {
  const found = new Set(entries);
  for (const path of found) for (const following of next(path)) found.add(following); // also visits what is added
  return found;
}

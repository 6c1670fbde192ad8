import type { BuildRegistry, PageViews } from "../../compile/index.ts";
import type { Manifest } from "../../server/index.ts";
import type { BuiltFiles } from "./built-files.ts";

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
export interface FinishedBuild {
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

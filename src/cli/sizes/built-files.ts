import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Rolldown } from "vite";
import type { BuildRegistry, PageViews } from "../../compile/index.ts";
import type { Manifest } from "../../server/index.ts";
import { reachable } from "../modules/index.ts";

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
export function readBuiltFiles(
  bundle: Rolldown.OutputBundle,
  onDemand: ReadonlyMap<string, readonly string[]>,
): BuiltFiles {
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

/** The sizes of what a browser loads for a page, in bytes after compression with gzip. */
export interface PageSize {
  readonly files: PageFiles;
  readonly script: number;
  readonly style: number;
  readonly later: number;
}

/** Returns the size of a file, in bytes after compression with gzip. */
export type FileSize = (path: string) => number;

const compress = promisify(gzip);

/** Returns the size of text in bytes after compression with gzip, at the highest level as in a build. */
export async function gzipBytes(content: string | Uint8Array): Promise<number> {
  return (await compress(content, { level: 9 })).length;
}

/** Measures the files of pages, each once. */
export async function readFileSizes(pages: readonly PageFiles[], clientDir: string): Promise<FileSize> {
  const sizes = new Map<string, number>();
  for (const path of new Set(pages.flatMap(({ scripts, later, styles }) => [...scripts, ...later, ...styles])))
    sizes.set(path, await gzipBytes(await readFile(join(clientDir, path))));
  return (path) => sizes.get(path) ?? 0;
}

/** Returns the sizes of pages, the largest page first. */
export function sizesOfPages(pages: readonly PageFiles[], sizeOf: FileSize): PageSize[] {
  const total = (paths: readonly string[]) => paths.reduce((sum, path) => sum + sizeOf(path), 0);
  return pages
    .map((files) => ({
      files,
      script: total(files.scripts),
      style: total(files.styles),
      later: total(files.later),
    }))
    .sort((one, other) => other.script + other.style - one.script - one.style || compareNames(one, other));
}

function compareNames(one: PageSize, other: PageSize): number {
  return nameOfPage(one) < nameOfPage(other) ? -1 : 1;
}

/** Returns the path pattern of a page, or its location if the path is not written as text. */
export function nameOfPage({ files: { page } }: PageSize): string {
  return page.path ?? `${page.name} (${page.file}:${page.line})`;
}

/** Returns a number of bytes in kB, which are 1000 bytes, with one decimal. What is not empty has at least 0.1 kB. */
export function formatSize(bytes: number): string {
  return `${(bytes === 0 ? 0 : Math.max(0.1, bytes / 1000)).toFixed(1)} kB`;
}

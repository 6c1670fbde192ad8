import type { Assets, ViewAsset } from "../pages/index.ts";

/** What `tsweb build` tells the built application of the browser's files. */
export interface Manifest {
  /** The script that brings views to life; `null` when the application has no view. */
  readonly islands: ViewAsset | null;
  /** The views, by their module's file. */
  readonly views: Readonly<Record<string, ViewAsset>>;
  /** The style sheets of each page module's pages, in order, by the module's file. */
  readonly styles: Readonly<Record<string, readonly string[]>>;
  /** The style sheets of all pages: what the application's own module imports. */
  readonly appStyles: readonly string[];
  /**
   * What the addresses of pictures and other files in the server's code begin with, where the
   * application's base and a slash are to stand.
   */
  readonly assetBase: string;
  /** Every file for the browser, by its path: nothing else is served. */
  readonly files: readonly string[];
  /** The server functions that the browser's code calls, and where they are declared and imported. */
  readonly stubs: readonly { readonly name: string; readonly file: string; readonly importer: string }[];
}

/** Gives pages their assets from a manifest. */
export function manifestAssets(manifest: Manifest): Assets {
  const missing: ViewAsset = { src: "", preload: [] };
  return {
    scripts: [],
    base: manifest.assetBase,
    islands: manifest.islands ?? missing,
    view({ file, name }) {
      const view = manifest.views[file];
      if (!view) throw new Error(`The view ${name} of ${file} is not in the build. Build the application again.`);
      return view;
    },
    styles(page) {
      const own = page ? (manifest.styles[page.file] ?? []) : [];
      return [...new Set([...manifest.appStyles, ...own])];
    },
  };
}

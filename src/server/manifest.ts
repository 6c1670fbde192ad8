import type { Assets, ViewAsset } from "../pages/index.ts";
import type { CalledFunction } from "./modules.ts";
import type { StaticPage } from "./static-pages.ts";

/** The browser's files of a built application, and the server functions that they call. `tsweb build` writes it. */
export interface Manifest {
  /** The id of the build. A later build has a greater id. @see docs/protocol.md 3.9 */
  readonly build: string;
  /** The page script, which hydrates views; `null` when the application has no view. */
  readonly islands: ViewAsset | null;
  /** What the script of a part imports to start its views; `null` when the application has no view. */
  readonly partViews: ViewAsset | null;
  /** The scripts of views, by their module's file. */
  readonly views: Readonly<Record<string, ViewAsset>>;
  /** The style sheets of each page module's pages, in order, by the module's file. */
  readonly styles: Readonly<Record<string, readonly string[]>>;
  /** The style sheets of all pages: those that the application module imports. */
  readonly appStyles: readonly string[];
  /** The prefix of asset URLs in the server's code, which stands for the application's base and a slash. Absent without such URLs. */
  readonly assetBase?: string;
  /** The paths of all browser files. Only these are served. */
  readonly files: readonly string[];
  /** Those of the files whose names contain a hash of their content. */
  readonly hashedFiles: readonly string[];
  /** The pages that the build has rendered. They are no `files`: pages are served at their own paths. */
  readonly staticPages?: readonly StaticPage[];
  /** Those of the hashed files that were taken over from earlier builds. */
  readonly kept: readonly KeptBuild[];
  /** The server functions that browser code calls. */
  readonly stubs: readonly CalledFunction[];
}

/** The files of an earlier build that a build has taken over. */
export interface KeptBuild {
  /** The id of the earlier build. */
  readonly build: string;
  /** When the next build was made, in milliseconds since the Unix epoch. */
  readonly replacedAt: number;
  readonly files: readonly string[];
}

/** Returns the assets of pages, as a manifest lists them. */
export function manifestAssets(manifest: Manifest): Assets {
  const missing: ViewAsset = { src: "", preload: [] };
  const appStyles = [...new Set(manifest.appStyles)];
  // Always the same list for a page: its document is prepared once (src/pages/document.ts).
  const styles = new Map(
    Object.entries(manifest.styles).map(([file, ofPage]) => [file, [...new Set([...appStyles, ...ofPage])]]),
  );
  return {
    scripts: [],
    build: manifest.build,
    ...(manifest.assetBase === undefined ? {} : { base: manifest.assetBase }),
    islands: manifest.islands ?? missing,
    partViews: manifest.partViews ?? missing,
    view({ file, name }) {
      const view = manifest.views[file];
      if (!view) throw new Error(`The view ${name} of ${file} is not in the build. Run tsweb build again.`);
      return view;
    },
    styles: (page) => (page && styles.get(page.file)) || appStyles,
  };
}

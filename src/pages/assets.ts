import type { PageSource, ViewSource } from "../protocol/index.ts";

/** Where a view's script is. */
export interface ViewAsset {
  readonly src: string;
  /** What it imports in turn, so that the browser can fetch all at once. */
  readonly preload: readonly string[];
}

/**
 * Where the browser finds what a page needs: given by the build's manifest, or by the development
 * server. Addresses start with a slash and are without the application's base.
 */
export interface Assets {
  /** Scripts that every page has; none but in development. */
  readonly scripts: readonly string[];
  /** Set where scripts and style sheets are not below the application's base: in development. */
  readonly atRoot?: true;
  /**
   * What the addresses of pictures and other files in a page's markup begin with, where the
   * application's base and a slash are to stand; absent where they are right as they are.
   */
  readonly base?: string;
  /** The script that brings views to life. */
  readonly islands: ViewAsset;
  view(source: ViewSource): ViewAsset;
  /** The style sheets of a page, in order; `null`: of a page that no module declares, as an error page is. */
  styles(page: PageSource | null): readonly string[];
}
